/**
 * The built-in tasks by which workflows in code send events and messages. The id comes from the task,
 * so that another attempt sends the same one again.
 */
import type { HandlerRuns, TaskContext } from "../adapters/handlers/handler-runs.ts";
import { handlersFrom } from "../adapters/handlers/task-handlers.ts";
import { BusinessError } from "../business-error.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { TaskHandler } from "../ports/tasks.ts";
import type { LibraryCalls } from "./library-calls.ts";

type Calls = Pick<LibraryCalls, "event" | "message">;
type EventInput = Parameters<Calls["event"]>[0];
type MessageInput = Parameters<Calls["message"]>[0];

/** Their handlers, by type; `calls` is asked for when a task runs. */
export function sendHandlers(
  calls: () => Calls,
  runs: HandlerRuns,
): ReadonlyMap<string, TaskHandler> {
  const sendEvent = ({ id, ...event }: EventInput, { idempotencyKey }: TaskContext) =>
    final(() => calls().event({ ...event, id: id ?? idempotencyKey }));
  const sendMessage = (message: MessageInput, { idempotencyKey }: TaskContext) =>
    final(() => calls().message({ ...message, messageId: idempotencyKey }));
  return handlersFrom(
    { "fermata:send-event": sendEvent, "fermata:send-message": sendMessage },
    runs,
  );
}

/** What would be refused again is an error with a code: the workflow learns it at once. */
async function final<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (cause) {
    if (!(cause instanceof EngineError) || cause.retryable) throw cause;
    throw new BusinessError(cause.code, cause.message);
  }
}
