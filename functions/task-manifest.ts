import { existsSync, readFileSync } from "node:fs";
import { HTTP_TASK } from "../lib/adapters/handlers/http-task/http-task.ts";
import { EngineError } from "../lib/ports/engine-error.ts";
import type { TaskHandler } from "../lib/ports/tasks.ts";
import type { TaskManifest } from "./settings.ts";

// A function is one file. Beside it are the files that differ from one installation to another:
// `tasks.json` lists the tasks it runs, and `tasks.mjs` holds their code. Absent: it runs none.

/** What this installation runs itself. */
export function readManifest(): TaskManifest {
  const file = new URL("./tasks.json", import.meta.url);
  return existsSync(file) ? parseManifest(readFileSync(file, "utf8")) : {};
}

/** The users' handlers, by type. */
export async function loadTaskModule(): Promise<Readonly<Record<string, unknown>>> {
  const file = new URL("./tasks.mjs", import.meta.url);
  if (!existsSync(file)) return {};
  const module: { default?: Readonly<Record<string, unknown>> } = await import(file.href);
  return module.default ?? {};
}

/** The tasks that this installation runs, the built-in one included. */
export function declaredTasks(manifest: TaskManifest): TaskManifest {
  const { type, ...settings } = HTTP_TASK;
  return { [type]: settings, ...manifest };
}

/** Handlers for functions that only need to know the tasks and their settings. */
export function declaredHandlers(manifest: TaskManifest): ReadonlyMap<string, TaskHandler> {
  return new Map(
    Object.entries(declaredTasks(manifest)).map(([type, { timeoutMs, isolate, exclusive }]) => [
      type,
      { timeoutMs, isolate, exclusive, run: () => Promise.reject(notHere(type)) },
    ]),
  );
}

/** Written when the stack was synthesised, by the same version. */
function parseManifest(text: string): TaskManifest {
  return JSON.parse(text) as TaskManifest;
}

/**
 * As an error, not as an outcome: the attempt has not failed, its message only reached the wrong
 * queue.
 */
function notHere(type: string): EngineError {
  return new EngineError("tasks/handler-unusable", {
    happened: "This function runs no tasks",
    where: `task ${type}`,
    fix: "Deploy the functions of one version together.",
    retryable: true,
  });
}
