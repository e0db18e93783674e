import type { Json } from "../definition/json.ts";
import type { Instant } from "../definition/time/instant.ts";

/** An event that was sent to an instance, with the settings of its type when it was accepted. */
export type QueuedEvent = Readonly<{
  id: string;
  name: string;
  payload: Json;
  at: Instant;
  expiresAt: Instant;
  onTargetTerminated: OnTargetTerminated;
}>;

export type OnTargetTerminated = "discard" | "broadcast" | "deadLetter";
