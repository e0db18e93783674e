import { HandlerRuns } from "../../lib/adapters/handlers/handler-runs.ts";
import {
  handlersFrom,
  type TaskHandlersByType,
} from "../../lib/adapters/handlers/task-handlers.ts";
import { EngineError } from "../../lib/ports/engine-error.ts";
import { MAX_TASK_TIMEOUT_MS, type TaskManifest } from "../settings.ts";

/** The manifest of the handlers of a `tasks.mjs`; throws with all problems. */
export function describeTasks(byType: TaskHandlersByType): TaskManifest {
  const handlers = [...handlersFrom(byType, new HandlerRuns())];
  const tooLong = handlers.filter(([, { timeoutMs }]) => timeoutMs > MAX_TASK_TIMEOUT_MS);
  if (tooLong.length > 0) throw unfit(tooLong.map(([type]) => type));
  return Object.fromEntries(
    handlers.map(([type, { timeoutMs, isolate, exclusive }]) => [
      type,
      { timeoutMs, isolate, exclusive },
    ]),
  );
}

function unfit(types: readonly string[]): EngineError {
  return new EngineError("tasks/handler-unusable", {
    happened: "A function ends before these handlers would have to",
    where: types.map((type) => `tasks[${JSON.stringify(type)}]`).join(", "),
    fix: `Use a timeout of at most ${MAX_TASK_TIMEOUT_MS / 60_000} minutes, or complete the task from outside.`,
    details: types.map((type) => ({ source: type, problem: "Its timeout is too long." })),
  });
}
