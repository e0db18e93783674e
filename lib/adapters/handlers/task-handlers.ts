// Task handlers, as their authors write them: a function, or a function with settings.
// All problems are found before the first task runs, and reported together.

import { type Dirent, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { EngineError } from "../../ports/engine-error.ts";
import type { TaskHandler } from "../../ports/tasks.ts";
import { type FoundHandler, handlersByType } from "./found-handlers.ts";
import { HandlerRuns } from "./handler-runs.ts";
import { parseStep, stepParts } from "./step-parts.ts";
import { parseTaskHandler } from "./task-handler-settings.ts";

/** A function, or `{ run, timeout, backoff, isolate, exclusive }`, by task type. */
export type TaskHandlersByType = Readonly<Record<string, unknown>>;

/** Imports a file of a user, or says why it cannot be loaded. */
export type ImportFile = (
  path: string,
) => Promise<Readonly<{ module: Readonly<Record<string, unknown>> } | Unloadable>>;
type Unloadable = Readonly<{ problem: string; fix: string }>;

/** Parses handlers that the host passes as objects. */
export function handlersFrom(
  byType: TaskHandlersByType,
  runs: HandlerRuns = new HandlerRuns(),
): ReadonlyMap<string, TaskHandler> {
  return handlersByType(findHandlersFrom(byType, runs));
}

/** The same, with the place of each. */
export function findHandlersFrom(
  byType: TaskHandlersByType,
  runs: HandlerRuns,
): readonly FoundHandler[] {
  const exports = Object.entries(byType).map(([type, exported]) => ({
    source: `tasks[${JSON.stringify(type)}]`,
    type,
    exported,
  }));
  return parseAll(exports, [], runs);
}

/**
 * Imports `<type>.ts`, `.mjs` or `.js` of a folder; odd characters of a type are percent-encoded. The
 * default export handles that type. Steps that a file exports handle their own.
 */
export async function loadTaskHandlers(
  folder: string,
  runs: HandlerRuns = new HandlerRuns(),
): Promise<ReadonlyMap<string, TaskHandler>> {
  return handlersByType(await findTaskHandlers(folder, { runs, importFile }));
}

/** The same, with the place of each. */
export async function findTaskHandlers(
  folder: string,
  { runs, importFile }: Readonly<{ runs: HandlerRuns; importFile: ImportFile }>,
): Promise<readonly FoundHandler[]> {
  const problems: Problem[] = [];
  const exports: Export[] = [];
  for (const file of filesOf(folder)) {
    const source = join(folder, file);
    const imported = await importFile(resolve(source));
    const found = "module" in imported ? exportsOf(imported.module, file) : imported;
    if ("problem" in found) {
      problems.push({ source, ...found });
      continue;
    }
    for (const one of found) {
      const twin = exports.find(({ type }) => type === one.type);
      if (twin === undefined) exports.push({ source, ...one });
      else if (twin.exported !== one.exported) problems.push(twinProblem(source, twin));
    }
  }
  return parseAll(exports, problems, runs);
}

type Export = Readonly<{ source: string; type: string; exported: unknown }>;
type Problem = Readonly<{ source: string; problem: string; fix: string }>;

/** The default export by the file's name, and steps by their own types. */
function exportsOf(
  module: Readonly<Record<string, unknown>>,
  file: string,
): readonly Omit<Export, "source">[] | Unloadable {
  const steps = Object.values(module).flatMap((exported) => {
    const parts = stepParts(exported);
    return parts === undefined ? [] : [{ type: parts.type, exported }];
  });
  const hasDefault = "default" in module && stepParts(module.default) === undefined;
  if (!hasDefault && steps.length > 0) return steps;
  if (!hasDefault) {
    return {
      problem: "It has no default export, and exports no step.",
      fix: "Write `export default async (input, context) => ({ … })`.",
    };
  }
  const type = typeOf(file);
  if (type === undefined) {
    return { problem: "Its name is not percent-encoded text.", fix: NAME_FIX };
  }
  return [{ type, exported: module.default }, ...steps];
}

const twinProblem = (source: string, { source: other, type }: Export): Problem => ({
  source,
  problem: `${other} handles the type ${JSON.stringify(type)}, too.`,
  fix: "Remove or rename one of the two.",
});

const NAME_FIX = "Name it <type>.ts; write % as %25 and other odd characters as %XX.";

function filesOf(folder: string): readonly string[] {
  let entries: readonly Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    throw new EngineError("tasks/handler-unusable", {
      happened: "The folder of task handlers cannot be read",
      where: folder,
      fix: "Create the folder, or name another one.",
      cause,
    });
  }
  return entries
    .filter((entry) => !entry.isDirectory() && isHandlerFile(entry.name))
    .map((entry) => entry.name)
    .sort();
}

/** Declarations and tests may be in the same folder; hidden files are not handlers. */
function isHandlerFile(name: string): boolean {
  return /^[^.].*\.(ts|mjs|js)$/.test(name) && !/\.(d|test|spec)\.(ts|mjs|js)$/.test(name);
}

function typeOf(file: string): string | undefined {
  try {
    return decodeURIComponent(file.replace(/\.(ts|mjs|js)$/, ""));
  } catch {
    return undefined;
  }
}

const importFile: ImportFile = async (path) => {
  try {
    return { module: await import(pathToFileURL(path).href) };
  } catch (error) {
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { problem: `It cannot be loaded: ${reason}`, fix: "Run it with node to see where." };
  }
};

function parseAll(
  exports: readonly Export[],
  others: readonly Problem[],
  runs: HandlerRuns,
): readonly FoundHandler[] {
  const problems = [...others];
  const found: FoundHandler[] = [];
  for (const one of exports) {
    const step = stepParts(one.exported);
    const handler =
      step === undefined ? parseTaskHandler(one.exported, runs) : parseStep(step, runs);
    if (handler.ok) found.push({ ...one, handler: handler.value });
    else problems.push({ source: one.source, problem: handler.problem, fix: handler.hint });
  }
  if (problems.length > 0) throw unusable(problems);
  return found;
}

function unusable(problems: readonly Problem[]): EngineError {
  const count = problems.length === 1 ? "A task handler" : `${problems.length} task handlers`;
  return new EngineError("tasks/handler-unusable", {
    happened: `${count} cannot be used`,
    where: problems.map(({ source }) => source).join(", "),
    fix: problems.map(({ source, problem, fix }) => `${source}: ${problem} ${fix}`).join(" "),
    details: problems,
  });
}
