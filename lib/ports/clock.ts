import type { Instant } from "../definition/time/instant.ts";

/** The clock of a host: it may differ from other hosts' clocks and may jump. */
export interface Clock {
  now(): Instant;
  /** A short pause between two attempts. */
  pause(ms: number): Promise<void>;
}
