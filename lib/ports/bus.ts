import type { Instant } from "../definition/time/instant.ts";
import type { Notice } from "../kernel/instance.ts";

/** Carries broadcasts; at least once and in any order, so receivers deduplicate by id. */
export interface Bus {
  /**
   * Delivers an accepted broadcast to the work queue, and to subscribers of the bus. False: the bus
   * did not take it, retries included, and it has to be published again.
   */
  publish(broadcast: Broadcast): Promise<boolean>;
  /** Announces what happens to an instance; absent: announcements are off. */
  announce?(announcement: Announcement): Promise<void>;
}

/** What was broadcast; the fan-out reads the payload from the store. */
export type Broadcast = Readonly<{
  tenant: string;
  broadcastId: string;
  topic: Topic;
  /** Its place among all broadcasts of its topic. */
  seq: number;
  at: Instant;
}>;

/** Signals and events have separate namespaces. */
export type Topic = Readonly<{ kind: "signal" | "event"; name: string }>;

export type Announcement = Readonly<{
  id: string;
  tenant: string;
  instanceId: string;
  definition: Readonly<{ id: string; version: number }>;
  notice: Notice;
}>;
