/** The code that a user hands to an engine: workflows in TypeScript, and task handlers. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { type FoundHandler, handlersByType } from "../adapters/handlers/found-handlers.ts";
import type { HandlerRuns } from "../adapters/handlers/handler-runs.ts";
import type { ImportFile } from "../adapters/handlers/task-handlers.ts";
import { loadSteps } from "../bundler/load-module.ts";
import type { Diagnostic } from "../definition/diagnostic.ts";
import type { Sandbox } from "../definition/sandbox.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { TaskHandler } from "../ports/tasks.ts";
import { type EmbeddedOptions, findHandlers, givenPaths } from "./options.ts";
import {
  type CheckedFile,
  checkWorkflowFile,
  loadWorkflowFile,
  refusedWorkflows,
  twiceExported,
  unimportedFile,
  type WorkflowFile,
  workflowFilesAt,
} from "./workflow-files.ts";

export type GivenCode = Pick<EmbeddedOptions, "workflows" | "tasks">;

/** A part of the code, and what the files looked like that it was made from. */
type Part<T> = Readonly<{
  made: T;
  inputs: readonly string[];
  looks: string;
  /** Whether all of them were saved before they were loaded. */
  isSettled: boolean;
}>;

export type UserCode = Readonly<{
  files: ReadonlyMap<string, Part<WorkflowFile>>;
  tasks: Part<readonly FoundHandler[]>;
  /** Whether no file was saved while it was loaded. */
  isSettled: boolean;
  /** By their types; `found` says where each comes from. */
  handlers: ReadonlyMap<string, TaskHandler>;
  found: readonly FoundHandler[];
}>;

/** All of the code, or everything that is wrong with it; `inputs` are the files that were read. */
export type LoadedCode = Readonly<
  | { ok: true; code: UserCode; inputs: readonly string[] }
  | { ok: false; errors: readonly EngineError[]; inputs: readonly string[] }
>;

/**
 * Loads the code; nothing is used unless all of it can be. Of `before`, the parts are kept whose files
 * have not changed.
 */
export async function loadUserCode(
  given: GivenCode,
  { runs, sandbox, isWatched, generation = 0, before }: LoadOptions,
): Promise<LoadedCode> {
  const startedMs = Date.now();
  const paths = givenPaths(given.workflows).flatMap(before ? filesIfAny : workflowFilesAt);
  const checked = await checkAll(paths, { sandbox, before });
  // Any other file may import the one that does not end.
  const isEndless = checked.some((file) => "bundled" in file && file.isEndless);
  const parts = await Promise.all(
    checked.map(async (file) => {
      if (!("bundled" in file)) return file;
      const made = await (isEndless
        ? unimportedFile(file)
        : loadWorkflowFile(file, { runs, generation }));
      return partOf(made, made.inputs, startedMs);
    }),
  );
  const files = new Map(parts.flatMap((part) => (isUsable(part) ? [[part.made.path, part]] : [])));
  const made = [...files.values()].map((part) => part.made);
  const problems = parts.flatMap(({ made: one }) => ("problems" in one ? one.problems : []));
  const twins = twiceExported(made);
  const errors: EngineError[] = [];
  if (problems.length + twins.length > 0) errors.push(refusedWorkflows([...problems, ...twins]));
  const fileInputs = parts.flatMap((part) => part.inputs);
  if (isEndless) {
    return { ok: false, errors, inputs: [...fileInputs, ...(before?.tasks.inputs ?? [])] };
  }
  const taskInputs = new Set<string>();
  const importFile = importing({ generation, isOnce: !isWatched }, taskInputs);
  const tasks = await caught(errors, async () => {
    if (before !== undefined && isSame(before.tasks)) return before.tasks;
    const found = await findHandlers(given.tasks, { runs, importFile });
    return partOf(found, [...taskInputs], startedMs);
  });
  const found = [...(tasks?.made ?? []), ...made.flatMap((one) => one.handlers)];
  const handlers = await caught(errors, async () => handlersByType(found));
  const inputs = [...fileInputs, ...(tasks?.inputs ?? taskInputs)];
  if (errors.length > 0 || tasks === undefined || handlers === undefined) {
    return { ok: false, errors, inputs };
  }
  const isSettled = [...files.values(), tasks].every((part) => part.isSettled);
  return { ok: true, code: { files, tasks, handlers, found, isSettled }, inputs };
}

type Checked = Part<WorkflowFile> | CheckedFile;

/**
 * Checks the files that have changed, and all of them again if one is saved meanwhile: what is
 * imported is what was checked.
 */
async function checkAll(
  paths: readonly string[],
  { sandbox, before }: Readonly<{ sandbox: Sandbox; before: UserCode | undefined }>,
): Promise<readonly Checked[]> {
  for (let tries = 1; ; tries++) {
    const startedMs = Date.now();
    const checked = await Promise.all(
      paths.map(async (path) => {
        const old = before?.files.get(path);
        return old !== undefined && isSame(old) ? old : checkWorkflowFile(path, sandbox);
      }),
    );
    const inputs = checked.flatMap((file) => ("bundled" in file ? file.bundled.inputs : []));
    const isSaved = inputs.map(savedMs).some((at) => at > startedMs && at <= Date.now());
    if (!isSaved || tries === MOST_CHECKS) return checked;
  }
}

/** A file that is saved without end is loaded again later. */
const MOST_CHECKS = 3;

type LoadOptions = Readonly<{
  runs: HandlerRuns;
  /** Where module scopes run before they run in this process. */
  sandbox: Sandbox;
  /** Whether the code is loaded anew when it changes. */
  isWatched: boolean;
  generation?: number;
  before?: UserCode;
}>;

/** The value, or undefined and its error in the list. */
async function caught<T>(errors: EngineError[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    errors.push(error);
    return undefined;
  }
}

const isUsable = (part: Part<object>): part is Part<WorkflowFile> => !("problems" in part.made);

/** While files are watched, one may be gone for good, or just being replaced. */
function filesIfAny(path: string): readonly string[] {
  try {
    return workflowFilesAt(path).filter((one) => statSync(one).isFile());
  } catch {
    return [];
  }
}

/** Loads task files as workflow files are loaded, and notes what they are made from. */
function importing(
  options: Readonly<{ generation: number; isOnce: boolean }>,
  inputs: Set<string>,
): ImportFile {
  return async (path) => {
    const loaded = await loadSteps(path, options);
    for (const input of loaded.inputs) inputs.add(input);
    if (loaded.ok) return { module: loaded.module };
    const text = loaded.diagnostics.map(({ message, ...at }) => `${placeOf(at)}${message}`);
    const fix = loaded.diagnostics[0]?.hint ?? "";
    return { problem: `It cannot be loaded: ${text.join(" ")}`, fix };
  };
}

const placeOf = ({ file, line }: Pick<Diagnostic, "file" | "line">): string =>
  file === undefined ? "" : `${file}:${line ?? 1}: `;

function partOf<T>(made: T, inputs: readonly string[], startedMs: number): Part<T> {
  const isSettled = inputs.map(savedMs).every((savedAtMs) => {
    const isFuture = savedAtMs > Date.now() + CLOCK_SLACK_MS;
    return savedAtMs < startedMs - CLOCK_SLACK_MS || isFuture;
  });
  return { made, inputs, looks: looksOf(inputs), isSettled };
}

/** File systems keep their times less precisely than the clock, and some have a clock of their own. */
const CLOCK_SLACK_MS = 20;

/** A file that was saved while it was loaded may have been read before that. */
const isSame = ({ looks, inputs, isSettled }: Part<unknown>): boolean =>
  isSettled && looks === looksOf(inputs);

function looksOf(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths) hash.update(`${path}\n`).update(textOf(path)).update("\n");
  return hash.digest("base64url");
}

function textOf(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch {
    return new Uint8Array();
  }
}

function savedMs(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}
