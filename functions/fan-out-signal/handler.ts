import { check } from "../../lib/api/check.ts";
import { signal } from "../../lib/api/shapes/signal.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import type { FanOutMessage, Message } from "../../lib/ports/message.ts";
import { isFanOut } from "../../lib/ports/message-kinds.ts";
import type { MessageHandler } from "../middleware/per-message.ts";
import { wrongQueue } from "../middleware/wrong-queue.ts";

/** The page queue calls this with parts of broadcasts, and with signals that outsiders ask for. */
export function fanOutSignal(engine: Pick<Engine, "handle" | "signal">): MessageHandler {
  return async (message, invocation) => {
    if (message.kind !== "signal-requested") return engine.handle(fanOut(message), invocation);
    // With the event's own id: the bus may bring it twice, and it is one broadcast all the same.
    const { kind: _, ...request } = message;
    await engine.signal(check(signal, request, "body"));
    return "release";
  };
}

/** The queue is open to the bus: a kind that no fan-out sends is refused, however it got here. */
function fanOut(message: Message): FanOutMessage {
  if (isFanOut(message)) return message;
  throw wrongQueue(message, "Send to this queue only the parts of a fan-out.");
}
