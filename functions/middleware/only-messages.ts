import { EngineError } from "../../lib/ports/engine-error.ts";
import type { Message } from "../../lib/ports/message.ts";
import type { Queued } from "./batch.ts";

/** Throws where an outsider's request came through a queue of the engine's own. */
export function onlyMessages(queued: Queued): Message {
  if (queued.kind !== "signal-requested") return queued;
  throw new EngineError("message/unreadable", {
    happened: "A request for a signal came through the wrong queue",
    where: `event ${queued.id}`,
    fix: "Put it on the bus as an event with the detail type signal-requested.",
    retryable: false,
  });
}
