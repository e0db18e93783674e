import type { Instant } from "../definition/time/instant.ts";
import type { Notice } from "../kernel/instance.ts";

/** Carries what concerns everybody; at least once and in any order, so receivers go by ids. */
export interface Bus {
  /**
   * Brings an accepted broadcast to those who fan it out, and to outsiders that listen. False: it
   * was not taken, tries included, and somebody has to publish it again.
   */
  publish(broadcast: Broadcast): Promise<boolean>;
  /** Tells outsiders what happens to an instance; absent: nobody wants to hear it. */
  announce?(announcement: Announcement): Promise<void>;
}

/** What was broadcast; who fans it out reads the payload from the store. */
export type Broadcast = Readonly<{
  tenant: string;
  broadcastId: string;
  topic: Topic;
  /** Its place among all broadcasts of its topic. */
  seq: number;
  at: Instant;
}>;

/** Signals and events have names of their own. */
export type Topic = Readonly<{ kind: "signal" | "event"; name: string }>;

export type Announcement = Readonly<{
  id: string;
  tenant: string;
  instanceId: string;
  definition: Readonly<{ id: string; version: number }>;
  notice: Notice;
}>;
