import type { HandlerRuns, TaskCode } from "../adapters/handlers/handler-runs.ts";
import { handlersFrom, loadTaskHandlers } from "../adapters/handlers/task-handlers.ts";
import type { Trouble } from "../adapters/local/deliveries.ts";
import type { Announcement } from "../ports/bus.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { TaskHandler } from "../ports/tasks.ts";
import type { HttpOptions } from "./http-task.ts";
import type { KnownOptions } from "./known-options.ts";
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

/** All handlers, from objects and folders; a type may have only one. */
export async function handlersOf(
  tasks: EmbeddedOptions["tasks"],
  runs: HandlerRuns,
): Promise<Map<string, TaskHandler>> {
  if (tasks === undefined) return new Map();
  const folders = typeof tasks === "string" ? [tasks] : tasks;
  if (!isFolders(folders)) return new Map(handlersFrom(folders, runs));
  const all = new Map<string, TaskHandler>();
  for (const folder of folders) {
    for (const [type, handler] of await loadTaskHandlers(folder, runs)) {
      if (all.has(type)) throw twice(type, folder);
      all.set(type, handler);
    }
  }
  return all;
}

export function troubleText({ error, about, retryInMs }: Trouble): string {
  const why = error instanceof Error ? error.message : String(error);
  return `${about}: ${why} It is tried again in ${retryInMs} ms.`;
}

function isFolders(tasks: object): tasks is readonly string[] {
  return Array.isArray(tasks);
}

/** Two handlers of one type: which one runs must not depend on luck. */
export function twice(type: string, folder: string): EngineError {
  return new EngineError("tasks/handler-unusable", {
    happened: `The task type "${type}" has two handlers`,
    where: folder,
    fix: "Rename or remove one of them.",
  });
}
