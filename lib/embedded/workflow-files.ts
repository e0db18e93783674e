/**
 * Workflows in TypeScript as a library user hands them over: files and folders, which are bundled for
 * the sandbox, and imported here for their steps. Nothing is used unless all of it can be.
 */
import { type Dirent, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { HandlerRuns, TaskCode } from "../adapters/handlers/handler-runs.ts";
import { parseTaskHandler } from "../adapters/handlers/task-handler-settings.ts";
import { bundleWorkflows } from "../bundler/bundle-workflows.ts";
import { loadSteps } from "../bundler/load-module.ts";
import type { Diagnostic } from "../definition/diagnostic.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { TaskHandler } from "../ports/tasks.ts";
import { STEP } from "../workflow/step.ts";
import { WORKFLOW } from "../workflow/workflow.ts";
import type { LibraryCalls } from "./library-calls.ts";
import { twice } from "./options.ts";

/** What one file holds. */
export type WorkflowFile = Readonly<{
  path: string;
  /** For the sandbox; absent where the file declares steps only. */
  bundle?: string;
  handlers: ReadonlyMap<string, TaskHandler>;
  warnings: readonly Diagnostic[];
  /** Every file that it was made from. */
  inputs: readonly string[];
}>;

/** Loads every file; throws with all problems of all files. */
export async function loadWorkflowFiles(
  given: string | URL | readonly (string | URL)[],
  runs: HandlerRuns,
): Promise<readonly WorkflowFile[]> {
  const paths = (isList(given) ? given : [given]).flatMap(filesAt);
  const loaded = await Promise.all(paths.map((path) => loadFile(path, runs)));
  const problems = loaded.flatMap((file) => ("problems" in file ? file.problems : []));
  if (problems.length > 0) throw refused(problems);
  return loaded.flatMap((file) => ("problems" in file ? [] : [file]));
}

/** The handlers of all files; a type may have only one. */
export function stepHandlers(files: readonly WorkflowFile[]): Map<string, TaskHandler> {
  const all = new Map<string, TaskHandler>();
  for (const { path, handlers } of files) {
    for (const [type, handler] of handlers) {
      if (all.has(type)) throw twice(type, path);
      all.set(type, handler);
    }
  }
  return all;
}

/** Deploys the bundles; what did not change stays as it is. */
export async function deployFiles(
  engine: Pick<LibraryCalls, "deploy">,
  files: readonly WorkflowFile[],
): Promise<void> {
  for (const { bundle } of files) {
    if (bundle !== undefined) await engine.deploy({ notation: "code", source: bundle });
  }
}

const isList = (
  given: string | URL | readonly (string | URL)[],
): given is readonly (string | URL)[] => Array.isArray(given);

/** The files of a folder in order of their names, or the file itself. */
function filesAt(given: string | URL): readonly string[] {
  const path = resolve(
    given instanceof URL || given.startsWith("file:") ? fileURLToPath(given) : given,
  );
  try {
    if (!statSync(path).isDirectory()) return [path];
    return readdirSync(path, { withFileTypes: true })
      .filter(isWorkflowFile)
      .map(({ name }) => join(path, name))
      .toSorted();
  } catch (cause) {
    throw new EngineError("engine/misconfigured", {
      happened: "The workflows cannot be read",
      where: path,
      fix: "Name a folder or a file that exists.",
      cause,
    });
  }
}

/** Declarations and tests may be in the same folder; hidden files are none of ours. */
const isWorkflowFile = (entry: Dirent): boolean =>
  !entry.isDirectory() &&
  /^[^.].*\.(ts|mts|js|mjs)$/.test(entry.name) &&
  !/\.(d|test|spec)\.(ts|mts|js|mjs)$/.test(entry.name);

async function loadFile(
  path: string,
  runs: HandlerRuns,
): Promise<WorkflowFile | Readonly<{ problems: readonly Diagnostic[] }>> {
  const host = await loadSteps(path);
  if (!host.ok) return { problems: host.diagnostics };
  const exported = Object.values(host.module);
  const handlers = new Map(exported.flatMap((value) => handlerOf(value, runs)));
  if (!exported.some(isWorkflow)) return { path, handlers, warnings: [], inputs: host.inputs };
  const bundled = await bundleWorkflows(path);
  const inputs = [...new Set([...host.inputs, ...bundled.inputs])];
  if (!bundled.ok) return { problems: bundled.diagnostics };
  return { path, bundle: bundled.source, handlers, warnings: bundled.diagnostics, inputs };
}

const isWorkflow = (value: unknown): boolean =>
  typeof value === "object" && value !== null && WORKFLOW in value;

/** The code of a step, as a handler; its own timeout covers an attempt, too. */
function handlerOf(value: unknown, runs: HandlerRuns): readonly (readonly [string, TaskHandler])[] {
  if (typeof value !== "function" || !(STEP in value)) return [];
  const { type, run, timeout } = value[STEP] as StepParts;
  const handler = parseTaskHandler({ run, ...(timeout !== undefined && { timeout }) }, runs);
  if (!handler.ok) throw new Error(`${handler.problem} ${handler.hint}`);
  return [[type, handler.value]];
}

type StepParts = Readonly<{ type: string; run: TaskCode; timeout?: string }>;

function refused(problems: readonly Diagnostic[]): EngineError {
  const errors = problems.filter(({ severity }) => severity === "error");
  const [first] = errors;
  return new EngineError("definition/invalid", {
    happened: `The workflows cannot be used: ${errors.length} ${errors.length === 1 ? "problem" : "problems"}, the first: ${first?.message ?? ""}`,
    where: first === undefined ? "workflows" : `${first.file ?? "workflows"}:${first.line ?? 1}`,
    fix: "Fix every problem that is listed; nothing was stored.",
    details: problems,
  });
}
