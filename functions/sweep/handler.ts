import type { Context } from "aws-lambda";
import type { Engine } from "../../lib/engine/engine.ts";
import type { Clock } from "../../lib/ports/clock.ts";
import type { Slice } from "../../lib/ports/store.ts";
import { storeLimits } from "../../lib/ports/store-rules.ts";
import { msLeft } from "../middleware/invocations.ts";
import type { Telemetry } from "../middleware/telemetry.ts";

export type SweepOptions = Readonly<{
  clock: Pick<Clock, "now">;
  telemetry: Telemetry;
  /** Distant timers are only in the store: they have to be queued in time. */
  withWheel: boolean;
}>;

/** What one run has done. */
export type SweepSummary = Readonly<Record<keyof typeof NOTHING, number>>;

/**
 * A rule calls this each minute. It checks all slices, or as many as its time allows; the next run
 * starts with another one, so that none is always the last.
 */
export function sweepAll(
  engine: Pick<Engine, "adopt" | "sweep" | "turnWheel">,
  { clock, telemetry, withWheel }: SweepOptions,
): (event: unknown, context: Context) => Promise<SweepSummary> {
  return async (_, context) => {
    const sum = { ...NOTHING };
    const slices = slicesFrom(Math.floor(clock.now() / 60_000)).values();
    const hasTime = () => msLeft(context) >= TURN_MS;
    await adoptTasks(sum, () => msLeft(context) >= SLICES_MS);
    const lane = async () => {
      for (const slice of slices) {
        if (!hasTime()) return;
        await seeTo(slice, sum, hasTime);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    telemetry.measure("SweepRecovered", sum.sent);
    if (withWheel) telemetry.measure("WheelQueued", sum.queued);
    const isAmiss = sum.sent + sum.troubles > 0 || sum.slices < storeLimits.slices;
    telemetry.log(isAmiss ? "warn" : "info", "swept", sum);
    return sum;
  };

  /** After a deployment of new handlers: open tasks of their types are handed to them. */
  async function adoptTasks(sum: Sums, hasTime: () => boolean): Promise<void> {
    try {
      sum.adopted += await engine.adopt({ hasTime });
    } catch (error) {
      sum.troubles += 1;
      telemetry.log("error", "adoption-failed", { error });
    }
  }

  /** A slice that cannot be read does not stop the others. */
  async function seeTo(slice: Slice, sum: Sums, hasTime: () => boolean): Promise<void> {
    try {
      // The wheel first: what it queues in time is never overdue.
      if (withWheel) await turnWheel(slice, sum, hasTime);
      const { looked, sent, troubles } = await engine.sweep(slice, { hasTime });
      sum.looked += looked;
      sum.sent += sent;
      sum.troubles += troubles;
      sum.slices += 1;
    } catch (error) {
      sum.troubles += 1;
      telemetry.log("error", "slice-failed", { slice: slice.index, error });
    }
  }

  async function turnWheel(slice: Slice, sum: Sums, hasTime: () => boolean): Promise<void> {
    for (let isMore = true; isMore && hasTime(); ) {
      const { looked, queued, troubles, more } = await engine.turnWheel(slice, { hasTime });
      sum.looked += looked;
      sum.queued += queued;
      sum.troubles += troubles;
      isMore = more;
    }
  }
}

type Sums = { -readonly [K in keyof SweepSummary]: SweepSummary[K] };

const NOTHING = { slices: 0, adopted: 0, looked: 0, sent: 0, queued: 0, troubles: 0 };

/** Slices at a time. */
const LANES = 8;

/** The time that handing over tasks leaves to the slices, so that timers are not delayed. */
const SLICES_MS = 30_000;

/** The time that a page may take: none is started with less time left. */
const TURN_MS = 10_000;

function slicesFrom(first: number): readonly Slice[] {
  const of = storeLimits.slices;
  return Array.from({ length: of }, (_, n) => ({ index: (first + n) % of, of }));
}
