import { describe, expect, test } from "vitest";
import { sweepAll } from "../../functions/sweep/handler.ts";
import type { Slice } from "../../lib/ports/store.ts";
import type { Pace } from "../../lib/shapes/reports.ts";
import { ManualTime } from "../support/manual-time.ts";
import { aContext, HeardTelemetry } from "../support/queue-events.ts";

describe("the sweep", () => {
  test("processes all 32 slices, once each, starting elsewhere each minute", async () => {
    const { engine, swept, time, telemetry } = aSweep();
    const sweep = sweepAll(engine, { clock: time, telemetry, withWheel: false });

    await sweep({}, aContext(60_000));
    const first = swept.splice(0);
    await time.pass(60_000);
    await sweep({}, aContext(60_000));

    expect([...first].sort((a, b) => a - b)).toEqual(Array.from({ length: 32 }, (_, n) => n));
    expect(swept[0]).toBe(((first[0] ?? 0) + 1) % 32);
    expect(telemetry.measured).toEqual({ SweepRecovered: [64, 64] });
  });

  test("starts nothing without enough time", async () => {
    const { engine, swept, time, telemetry } = aSweep();
    const sweep = sweepAll(engine, { clock: time, telemetry, withWheel: false });
    const context = {
      ...aContext(),
      getRemainingTimeInMillis: () => (swept.length < 12 ? 60_000 : 9_000),
    };

    const summary = await sweep({}, context);

    expect(summary.slices).toBe(12);
    expect(telemetry.lines.at(-1)).toMatchObject({ level: "warn", name: "swept" });
  });

  test("stops in the middle of a slice when its time is over", async () => {
    const { engine, time, telemetry } = aSweep();
    let left = 60_000;
    const paces: (boolean | undefined)[] = [];
    const slow = {
      ...engine,
      sweep: async (slice: Slice, pace?: Pace) => {
        left = 9_000;
        paces.push(pace?.hasTime?.());
        return engine.sweep(slice);
      },
    };
    const context = { ...aContext(), getRemainingTimeInMillis: () => left };

    await sweepAll(slow, { clock: time, telemetry, withWheel: false })({}, context);

    expect(paces).toEqual(Array.from({ length: paces.length }, () => false));
    expect(paces.length).toBeGreaterThan(0);
  });

  test("leaves half of its time to the slices, however many tasks are adopted", async () => {
    const { engine, swept, time, telemetry } = aSweep();
    let left = 60_000;
    const context = { ...aContext(), getRemainingTimeInMillis: () => left };
    const busy = {
      ...engine,
      adopt: async ({ hasTime = () => true }: Pace = {}) => {
        for (; hasTime(); left -= 1_000);
        return 1_000;
      },
    };

    const summary = await sweepAll(busy, { clock: time, telemetry, withWheel: false })({}, context);

    expect(summary).toMatchObject({ slices: 32, adopted: 1_000 });
    expect(swept).toHaveLength(32);
    expect(left).toBeGreaterThan(28_000);
  });

  test("continues with the others when one slice fails", async () => {
    const { engine, time, telemetry } = aSweep({ failing: 7 });

    const summary = await sweepAll(engine, { clock: time, telemetry, withWheel: false })(
      {},
      aContext(60_000),
    );

    expect(summary).toMatchObject({ slices: 31, troubles: 1 });
    expect(telemetry.lines[0]).toMatchObject({ name: "slice-failed", fields: { slice: 7 } });
  });

  test("turns the wheel first, until it has no more", async () => {
    const { engine, turned, time, telemetry } = aSweep({ wheelTurns: 3 });

    const summary = await sweepAll(engine, { clock: time, telemetry, withWheel: true })(
      {},
      aContext(60_000),
    );

    expect(turned).toHaveLength(96);
    expect(summary).toMatchObject({ slices: 32, queued: 96 });
    expect(telemetry.measured.WheelQueued).toEqual([96]);
  });
});

function aSweep({ failing = -1, wheelTurns = 1 } = {}) {
  const swept: number[] = [];
  const turned: number[] = [];
  const engine = {
    adopt: async () => 3,
    sweep: async ({ index }: Slice) => {
      if (index === failing) throw new Error("index is away");
      swept.push(index);
      return { looked: 3, sent: 2, troubles: 0, more: true };
    },
    turnWheel: async ({ index }: Slice) => {
      turned.push(index);
      const turns = turned.filter((each) => each === index).length;
      return { looked: 1, queued: 1, troubles: 0, more: turns < wheelTurns };
    },
  };
  return { engine, swept, turned, time: new ManualTime(), telemetry: new HeardTelemetry() };
}
