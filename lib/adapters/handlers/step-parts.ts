import { type Parsed, refused } from "../../definition/parsed.ts";
import type { TaskHandler } from "../../ports/tasks.ts";
import type { HandlerRuns } from "./handler-runs.ts";
import { parseTaskHandler } from "./task-handler-settings.ts";

/** Where a step of `fermata-engine/workflow` keeps its code; the same in every copy of the SDK. */
const STEP = Symbol.for("fermata.step");

/** What a step is made of: its task type, its code, and how long an attempt may take. */
export type StepParts = Readonly<{ type: string; run: unknown; timeout?: unknown }>;

/** The parts of an export that is a step; undefined if it is none. */
export function stepParts(exported: unknown): StepParts | undefined {
  if (typeof exported !== "function" || !(STEP in exported)) return undefined;
  return exported[STEP] as StepParts;
}

/** The code of a step, as a handler; its own timeout covers an attempt, too. */
export function parseStep({ run, timeout }: StepParts, runs: HandlerRuns): Parsed<TaskHandler> {
  if (typeof run !== "function")
    return refused("Its step has no code.", "Pass a function to step().");
  return parseTaskHandler({ run, ...(timeout !== undefined && { timeout }) }, runs);
}
