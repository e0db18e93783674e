import type { Engine } from "../../lib/engine/engine.ts";
import { onlyMessages } from "../middleware/only-messages.ts";
import type { MessageHandler } from "../middleware/per-message.ts";

/**
 * The timer queue calls this for each timer that may be due, for what the sweep found, and for every
 * other message that had to wait longer than its own queue could let it.
 */
export function fireTimer(engine: Pick<Engine, "handle">): MessageHandler {
  return (message, invocation) => engine.handle(onlyMessages(message), invocation);
}
