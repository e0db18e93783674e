import type { Engine } from "../../lib/engine/engine.ts";
import type { MessageHandler } from "../middleware/per-message.ts";

/** The page queue calls this with parts of broadcasts, and with signals that outsiders ask for. */
export function fanOutSignal(engine: Pick<Engine, "handle" | "signal">): MessageHandler {
  return async (message, invocation) => {
    if (message.kind !== "signal-requested") return engine.handle(message, invocation);
    const { name, payload, id } = message;
    // The event's own id: the bus may bring it twice, and it is one broadcast all the same.
    await engine.signal({ name, id, ...(payload !== undefined && { payload }) });
    return "release";
  };
}
