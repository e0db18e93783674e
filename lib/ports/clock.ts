import type { Instant } from "../definition/time/instant.ts";

/** Time, as a host sees it: it may differ from other hosts' and may jump. */
export interface Clock {
  now(): Instant;
  /** A short pause between two tries. */
  pause(ms: number): Promise<void>;
}
