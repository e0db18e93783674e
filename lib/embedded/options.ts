import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { FoundHandler } from "../adapters/handlers/found-handlers.ts";
import type { HandlerRuns, TaskCode } from "../adapters/handlers/handler-runs.ts";
import {
  findHandlersFrom,
  findTaskHandlers,
  type ImportFile,
} from "../adapters/handlers/task-handlers.ts";
import type { Trouble } from "../adapters/local/deliveries.ts";
import type { Diagnostic } from "../definition/diagnostic.ts";
import type { Announcement } from "../ports/bus.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { HttpOptions } from "./http-task.ts";
import type { KnownOptions } from "./known-options.ts";
import type { Reload } from "./reload.ts";
import type { TrailNews } from "./trail-listener.ts";

export type EmbeddedOptions = Readonly<{
  /** One folder, one owner: a second process gets an error. */
  dataDir: string;
  /** "virtual": time moves only by `advanceClock`. */
  clock?: "real" | "virtual";
  /** Real time that `advanceClock` waits for handlers that make no progress; 2 seconds by default. */
  advancePatienceMs?: number;
  /** Handlers by type, or folders of files that are named after the type they run, or their URLs. */
  tasks?:
    | string
    | URL
    | readonly (string | URL)[]
    | Readonly<Record<string, TaskCode | TaskOptions>>;
  /**
   * Workflows in TypeScript: folders, files or their URLs. They are bundled and deployed when the
   * engine opens, and their steps are registered as handlers.
   */
  workflows?: string | URL | readonly (string | URL)[];
  /**
   * Watches the files of `workflows` and `tasks` for development: what is saved is deployed and
   * replaces the handlers. Called with what became of each save; must not throw.
   */
  onReload?: (reload: Reload) => void;
  /**
   * Called with everything that is suspicious about `workflows` when the engine opens, such as a step
   * that no handler runs; a warning of the process by default. Must not throw.
   */
  onWarning?: (warning: Diagnostic) => void;
  /**
   * Which hosts tasks of the type `fermata:http` may call, and with which secrets; public hosts by
   * https by default.
   */
  http?: HttpOptions;
  /** Steps that run at the same time; 64 by default. */
  concurrency?: number;
  /** How long ended instances and their history are kept: a duration, P30D by default, at least P15D. */
  retention?: string;
  /** Called with every entry of the history once it is durable; must not throw. */
  onTrail?: (news: TrailNews) => void;
  /** Called at least once with every incident and end; a rejection is retried. */
  onAnnouncement?: (announcement: Announcement) => void | Promise<void>;
  /** Called with every failure that will be retried. */
  onTrouble?: (message: string) => void;
  /** Opens a folder whose log has lost acknowledged commits, and continues without them. */
  acceptLoss?: boolean;
  /**
   * Called when files of the data folder were removed or truncated, or its database file is damaged:
   * the engine has stopped and refuses every call.
   */
  onStopped?: (error: EngineError) => void;
  /** Pages of 4 KiB that the data file may grow to; unlimited by default. */
  maxPages?: number;
}>;

export const EMBEDDED_OPTIONS: KnownOptions<EmbeddedOptions> = {
  dataDir: true,
  clock: true,
  advancePatienceMs: true,
  tasks: true,
  workflows: true,
  onReload: true,
  onWarning: true,
  http: true,
  concurrency: true,
  retention: true,
  onTrail: true,
  onAnnouncement: true,
  onTrouble: true,
  maxPages: true,
  acceptLoss: true,
  onStopped: true,
};

/** A handler with its settings. */
export type TaskOptions = Readonly<{
  run: TaskCode;
  timeout?: string | number;
  backoff?: string | Readonly<{ initial: string; multiplier?: number; max?: string }>;
  isolate?: boolean;
  exclusive?: boolean;
}>;

/** All handlers, from objects and folders. */
export async function findHandlers(
  tasks: EmbeddedOptions["tasks"],
  by: Readonly<{ runs: HandlerRuns; importFile: ImportFile }>,
): Promise<readonly FoundHandler[]> {
  if (tasks === undefined) return [];
  if (!isFolders(tasks)) return findHandlersFrom(handlersIn(tasks), by.runs);
  const found: FoundHandler[] = [];
  for (const folder of givenPaths(tasks)) found.push(...(await findTaskHandlers(folder, by)));
  return found;
}

export function troubleText({ error, about, retryInMs }: Trouble): string {
  const why = error instanceof Error ? error.message : String(error);
  return `${about}: ${why} It is tried again in ${retryInMs} ms.`;
}

/** The folders of handlers; none where they are given as objects. */
export function taskFolders(tasks: EmbeddedOptions["tasks"] = []): readonly string[] {
  return isFolders(tasks) ? givenPaths(tasks) : [];
}

type Given = NonNullable<EmbeddedOptions["tasks"]>;
type Folders = string | URL | readonly (string | URL)[];

const isFolders = (tasks: Given): tasks is Folders & Given =>
  typeof tasks === "string" || tasks instanceof URL || Array.isArray(tasks);

/** Plain JavaScript may pass anything. */
function handlersIn<T>(tasks: T): T & object {
  if (typeof tasks === "object" && tasks !== null) return tasks;
  throw new EngineError("engine/misconfigured", {
    happened: `Task handlers were expected, and this is ${nameOf(tasks)}`,
    where: "tasks",
    fix: "Pass a folder, a file URL, a list of them, or an object of handlers by task type.",
  });
}

/** Folders and files as a user names them, as paths. */
export function givenPaths(given: Folders | undefined): readonly string[] {
  const list = given === undefined ? [] : isList(given) ? given : [given];
  return list.map((one: unknown) => {
    if (typeof one !== "string" && !(one instanceof URL)) throw notAPath(nameOf(one));
    const isUrl = one instanceof URL || one.startsWith("file:");
    return isUrl ? pathOf(one) : resolve(one);
  });
}

function pathOf(url: string | URL): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw notAPath(String(url), cause);
  }
}

const notAPath = (given: string, cause?: unknown): EngineError =>
  new EngineError("engine/misconfigured", {
    happened: `A folder or file was expected, and this is ${given}`,
    where: "workflows or tasks",
    fix: "Pass a path, a file URL, or a list of them.",
    cause,
  });

const nameOf = (given: unknown): string => (given === null ? "null" : `a ${typeof given}`);

const isList = (given: Folders): given is readonly (string | URL)[] => Array.isArray(given);
