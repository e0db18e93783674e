import { type Parsed, refused } from "../../definition/parsed.ts";
import { addDuration, parseDuration } from "../../definition/time/duration.ts";
import { instantFrom } from "../../definition/time/instant.ts";
import type { TaskHandler } from "../../ports/tasks.ts";
import type { HandlerRuns } from "./handler-runs.ts";
import { MAX_TIMEOUT_MS, parseTaskHandler } from "./task-handler-settings.ts";

/** Where a step of `fermata-engine/workflow` keeps its code; the same in every copy of the SDK. */
const STEP = Symbol.for("fermata.step");

/** What a step is made of: its task type, its code, and how long an attempt may take. */
export type StepParts = Readonly<{ type: string; run: unknown; timeout?: unknown }>;

/** The parts of an export that is a step; undefined if it is none. */
export function stepParts(exported: unknown): StepParts | undefined {
  if (typeof exported !== "function" || !(STEP in exported)) return undefined;
  return exported[STEP] as StepParts;
}

/**
 * The code of a step, as a handler. The timeout of a step is that of the whole task, which the
 * workflow's own timer ends: an attempt gets a little more, so that the timer comes first.
 */
export function parseStep({ run, timeout }: StepParts, runs: HandlerRuns): Parsed<TaskHandler> {
  if (typeof run !== "function") {
    return refused("Its step has no code.", "Pass a function to step().");
  }
  if (typeof timeout !== "string") return parseTaskHandler({ run }, runs);
  const duration = parseDuration(timeout);
  if (!duration.ok) return duration;
  const epoch = instantFrom(0);
  const ms = addDuration(epoch, duration.value) - epoch + AFTER_TIMER_MS;
  return parseTaskHandler({ run, timeout: Math.min(ms, MAX_TIMEOUT_MS) }, runs);
}

const AFTER_TIMER_MS = 10_000;
