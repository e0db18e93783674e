// Task handlers, as their authors write them: a function, or a function with settings.
// All problems are found before the first task runs, and reported together.

import { type Dirent, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { EngineError } from "../../ports/engine-error.ts";
import type { TaskHandler } from "../../ports/tasks.ts";
import { HandlerRuns } from "./handler-runs.ts";
import { parseTaskHandler } from "./task-handler-settings.ts";

/** A function, or `{ run, timeout, backoff, isolate, exclusive }`, by task type. */
export type TaskHandlersByType = Readonly<Record<string, unknown>>;

/** Parses handlers that the host passes as objects. */
export function handlersFrom(
  byType: TaskHandlersByType,
  runs: HandlerRuns = new HandlerRuns(),
): ReadonlyMap<string, TaskHandler> {
  const found = Object.entries(byType).map(([type, exported]) => ({
    source: `tasks[${JSON.stringify(type)}]`,
    type,
    exported,
  }));
  return parseAll(found, [], runs);
}

/** Imports `<type>.ts`, `.mjs` or `.js` of a folder; odd characters of a type are percent-encoded. */
export async function loadTaskHandlers(
  folder: string,
  runs: HandlerRuns = new HandlerRuns(),
): Promise<ReadonlyMap<string, TaskHandler>> {
  const problems: Problem[] = [];
  const found: Found[] = [];
  for (const file of filesOf(folder)) {
    const source = join(folder, file);
    const type = typeOf(file);
    const twin = found.find((other) => other.type === type);
    if (type === undefined) {
      problems.push({ source, problem: "Its name is not percent-encoded text.", fix: NAME_FIX });
    } else if (twin !== undefined) {
      const problem = `${twin.source} handles the type ${JSON.stringify(type)}, too.`;
      problems.push({ source, problem, fix: "Remove or rename one of the two files." });
    } else {
      const imported = await importDefault(resolve(source));
      if ("problem" in imported) problems.push({ source, ...imported });
      else found.push({ source, type, exported: imported.exported });
    }
  }
  return parseAll(found, problems, runs);
}

type Found = Readonly<{ source: string; type: string; exported: unknown }>;
type Problem = Readonly<{ source: string; problem: string; fix: string }>;

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

async function importDefault(
  path: string,
): Promise<Readonly<{ exported: unknown } | { problem: string; fix: string }>> {
  try {
    const module: Record<string, unknown> = await import(pathToFileURL(path).href);
    if ("default" in module) return { exported: module.default };
    return {
      problem: "It has no default export.",
      fix: "Write `export default async (input, context) => ({ … })`.",
    };
  } catch (error) {
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { problem: `It cannot be loaded: ${reason}`, fix: "Run it with node to see where." };
  }
}

function parseAll(
  found: readonly Found[],
  others: readonly Problem[],
  runs: HandlerRuns,
): ReadonlyMap<string, TaskHandler> {
  const problems = [...others];
  const handlers = new Map<string, TaskHandler>();
  for (const { source, type, exported } of found) {
    const handler = parseTaskHandler(exported, runs);
    if (handler.ok) handlers.set(type, handler.value);
    else problems.push({ source, problem: handler.problem, fix: handler.hint });
  }
  if (problems.length > 0) throw unusable(problems);
  return handlers;
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
