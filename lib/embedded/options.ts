import type { FoundHandler } from "../adapters/handlers/found-handlers.ts";
import type { HandlerRuns, TaskCode } from "../adapters/handlers/handler-runs.ts";
import {
  findHandlersFrom,
  findTaskHandlers,
  type ImportFile,
} from "../adapters/handlers/task-handlers.ts";
import type { Trouble } from "../adapters/local/deliveries.ts";
import type { Announcement } from "../ports/bus.ts";
import type { EngineError } from "../ports/engine-error.ts";
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
  /** Handlers by type, or folders of files that are named after the type they run. */
  tasks?: string | readonly string[] | Readonly<Record<string, TaskCode | TaskOptions>>;
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
  const folders = typeof tasks === "string" ? [tasks] : tasks;
  if (!isFolders(folders)) return findHandlersFrom(folders, by.runs);
  const found: FoundHandler[] = [];
  for (const folder of folders) found.push(...(await findTaskHandlers(folder, by)));
  return found;
}

export function troubleText({ error, about, retryInMs }: Trouble): string {
  const why = error instanceof Error ? error.message : String(error);
  return `${about}: ${why} It is tried again in ${retryInMs} ms.`;
}

/** The folders of handlers; none where they are given as objects. */
export function taskFolders(tasks: EmbeddedOptions["tasks"] = []): readonly string[] {
  if (typeof tasks === "string") return [tasks];
  return isFolders(tasks) ? tasks : [];
}

function isFolders(tasks: object): tasks is readonly string[] {
  return Array.isArray(tasks);
}
