import type { Instant } from "../definition/time/instant.ts";

/** Wakes an instance when a timer is due: late or twice perhaps, but never early by its own clock. */
export interface Timers {
  arm(timer: ArmedTimer): Promise<void>;
  /** Best effort: a fire of a disarmed timer finds its ticket gone. */
  disarm(timer: DisarmedTimer): Promise<void>;
}

export type DisarmedTimer = Readonly<{
  tenant: string;
  instanceId: string;
  ticket: string;
  /** When it would have been due, and since when it was open: they tell where it may be held. */
  dueAt: Instant;
  since: Instant;
}>;

export type ArmedTimer = Readonly<{
  tenant: string;
  instanceId: string;
  ticket: string;
  dueAt: Instant;
  /** The store's due index will find this one by itself. */
  covered: boolean;
}>;
