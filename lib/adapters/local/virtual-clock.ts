import type { Instant } from "../../definition/time/instant.ts";
import type { Clock } from "../../ports/clock.ts";

/** Where a virtual clock keeps its time. */
export type ClockMemory = Readonly<{
  load(): Promise<Instant | undefined>;
  save(now: Instant): Promise<void>;
}>;

/** Opens the clock at the time it had when it was last moved, the first time at real time. */
export async function openVirtualClock({
  real,
  memory,
}: Readonly<{ real: Clock; memory: ClockMemory }>): Promise<VirtualClock> {
  const known = await memory.load();
  if (known !== undefined) return new VirtualClock(known, { real, memory });
  const begin = real.now();
  await memory.save(begin);
  return new VirtualClock(begin, { real, memory });
}

/** A clock that moves only by `moveTo`, and only forward. */
export class VirtualClock implements Clock {
  readonly #real: Pick<Clock, "pause">;
  readonly #memory: Pick<ClockMemory, "save">;
  #now: Instant;

  constructor(
    now: Instant,
    { real, memory }: Readonly<{ real: Pick<Clock, "pause">; memory: Pick<ClockMemory, "save"> }>,
  ) {
    this.#now = now;
    this.#real = real;
    this.#memory = memory;
  }

  now(): Instant {
    return this.#now;
  }

  /** Real time: a retry that waited for virtual time would keep that time from moving. */
  pause(ms: number): Promise<void> {
    return this.#real.pause(ms);
  }

  /** Saved before it is visible, so that time never goes back after a restart. */
  async moveTo(instant: Instant): Promise<void> {
    if (instant <= this.#now) return;
    await this.#memory.save(instant);
    this.#now = instant;
  }
}
