import type { Message } from "../../lib/ports/message.ts";
import type { Queued } from "./batch.ts";
import { wrongQueue } from "./wrong-queue.ts";

/** Throws where a request of another system arrives in a queue that carries only engine messages. */
export function onlyMessages(queued: Queued): Message {
  if (queued.kind !== "signal-requested") return queued;
  throw wrongQueue(queued, "Put it on the bus as an event with the detail type signal-requested.");
}
