import { check } from "../../lib/api/check.ts";
import { signal } from "../../lib/api/shapes/signal.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import type { Message, WorkMessage } from "../../lib/ports/message.ts";
import { isWork } from "../../lib/ports/message-kinds.ts";
import type { MessageHandler } from "../middleware/per-message.ts";
import { wrongQueue } from "../middleware/wrong-queue.ts";

/** Handles messages of the work queue, and signals that other systems request over the bus. */
export function runWork(engine: Pick<Engine, "handle" | "signal">): MessageHandler {
  return async (message, invocation) => {
    if (message.kind !== "signal-requested") return engine.handle(workMessage(message), invocation);
    // With the event's own id: if the bus delivers it twice, it is still one broadcast.
    const { kind: _, ...request } = message;
    await engine.signal(check(signal, request, "body"));
    return "release";
  };
}

/** The queue is open to the bus: kinds that the engine does not send to it are refused. */
function workMessage(message: Message): WorkMessage {
  if (isWork(message)) return message;
  throw wrongQueue(message, "Send only messages of the work queue to this queue.");
}
