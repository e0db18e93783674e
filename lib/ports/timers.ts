import type { Instant } from "../definition/time/instant.ts";

/** Wakes an instance when a timer is due: late or twice perhaps, but never early by its own clock. */
export interface Timers {
  arm(timer: ArmedTimer): Promise<void>;
  /** Best effort: a fire of a disarmed timer finds its ticket gone. */
  disarm(timer: Readonly<{ tenant: string; instanceId: string; ticket: string }>): Promise<void>;
}

export type ArmedTimer = Readonly<{
  tenant: string;
  instanceId: string;
  ticket: string;
  dueAt: Instant;
  /** The store's due index will find this one by itself. */
  covered: boolean;
}>;
