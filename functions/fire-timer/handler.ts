import type { Engine } from "../../lib/engine/engine.ts";
import { onlyMessages } from "../middleware/only-messages.ts";
import type { MessageHandler } from "../middleware/per-message.ts";

/**
 * Handles each timer that may be due, what the sweep found, and every other message that had to
 * wait longer than its own queue allows.
 */
export function fireTimer(engine: Pick<Engine, "handle">): MessageHandler {
  return (message, invocation) => engine.handle(onlyMessages(message), invocation);
}
