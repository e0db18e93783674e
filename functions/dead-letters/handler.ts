import type { Engine } from "../../lib/engine/engine.ts";
import { onlyMessages } from "../middleware/only-messages.ts";
import type { MessageHandler } from "../middleware/per-message.ts";
import type { Telemetry } from "../middleware/telemetry.ts";

/** Handles the dead letters of tasks: the task fails, or what its step owes is sent. */
export function giveUp(
  engine: Pick<Engine, "giveUp">,
  telemetry: Pick<Telemetry, "measure">,
): MessageHandler {
  return async (queued, invocation) => {
    const verdict = await engine.giveUp(onlyMessages(queued), invocation);
    if (verdict === "release") telemetry.measure("GivenUp", 1);
    return verdict;
  };
}
