/**
 * The built-in tasks by which workflows in code send events and messages. The id comes from the task,
 * so that another attempt sends the same one again.
 */
import type { HandlerRuns, TaskContext } from "../adapters/handlers/handler-runs.ts";
import { DEFAULT_TIMEOUT_MS } from "../adapters/handlers/task-handler-settings.ts";
import { BusinessError } from "../business-error.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { TaskAttempt, TaskHandler } from "../ports/tasks.ts";
import type { LibraryCalls } from "./library-calls.ts";

type Calls = Pick<LibraryCalls, "event" | "message">;
type EventInput = Parameters<Calls["event"]>[0];
type MessageInput = Parameters<Calls["message"]>[0];

/** Their handlers, by type; `calls` is asked for when a task runs. */
export function sendHandlers(
  calls: () => Calls,
  runs: HandlerRuns,
): ReadonlyMap<string, TaskHandler> {
  const sendEvent: Send<EventInput> = ({ id, ...event }, { idempotencyKey }) =>
    calls().event({ ...event, id: id ?? idempotencyKey });
  const sendMessage: Send<MessageInput> = (message, { idempotencyKey }) =>
    calls().message({ ...message, messageId: idempotencyKey });
  return new Map([
    ["fermata:send-event", handlerOf(sendEvent, runs)],
    ["fermata:send-message", handlerOf(sendMessage, runs)],
  ]);
}

type Send<Input> = (input: Input, context: TaskContext) => Promise<unknown>;

function handlerOf<Input>(send: Send<Input>, runs: HandlerRuns): TaskHandler {
  const timeoutMs = DEFAULT_TIMEOUT_MS;
  return {
    timeoutMs,
    isolate: false,
    exclusive: false,
    run: (input, about) => {
      const code = (given: Input, context: TaskContext) =>
        withCode(about, () => send(given, context));
      return runs.run(code, input, { about, timeoutMs });
    },
  };
}

/**
 * What would be refused again is an error with a code: the workflow learns it at once. So is the
 * failure of the last attempt; earlier ones have no code, or they would not be repeated.
 */
async function withCode<T>({ isLast }: TaskAttempt, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (cause) {
    if (!(cause instanceof EngineError) || (cause.retryable && !isLast)) throw cause;
    throw new BusinessError(cause.code, cause.message);
  }
}
