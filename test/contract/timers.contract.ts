// What all timers must do. An adapter's test calls timersContract with a way to open some.

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Instant, instantFrom } from "../../lib/definition/time/instant.ts";
import type { TimerMessage, TimerStartMessage } from "../../lib/ports/message.ts";
import type {
  ArmedStart,
  ArmedTimer,
  DisarmedStart,
  DisarmedTimer,
  Timers,
} from "../../lib/ports/timers.ts";

/** Timers of which none is armed, and their clock. */
export type OpenedTimers = Readonly<{
  timers: Timers;
  /** Calls back, with its name by `whoIs`, for everything that is woken from now on. */
  consume(woken: (who: string) => Promise<void>): void;
  /** What a commit does beside arming: the store's due index contains the owner, or not. */
  index(who: string, dueAt: Instant | undefined): void;
  now(): Instant;
  /** Lets time pass by the timers' clock, and everything be woken that becomes due. */
  pass(ms: number): Promise<void>;
  /** How late a timer may be at most, if a queue only supports whole seconds; 0 when absent. */
  latenessMs?: number;
  close(): Promise<void>;
}>;

/** Whose timer it is: an instance, or an occurrence of a start event. */
export const whoIs = (timer: Timed): string =>
  "instanceId" in timer ? timer.instanceId : `${timer.definitionId} ${timer.n}`;

type Timed = Omit<TimerMessage, "kind"> | Omit<TimerStartMessage, "kind">;

/** Declares the suite for one adapter; `runs` is how often a law is tried. */
export function timersContract(
  name: string,
  open: () => Promise<OpenedTimers>,
  { runs = 50 } = {},
): void {
  describe(name, () => {
    let opened: OpenedTimers;
    let woken: Readonly<{ who: string; at: Instant }>[];
    beforeEach(async () => {
      await reopen();
    });
    afterEach(() => opened.close());

    async function reopen(): Promise<void> {
      opened = await open();
      woken = [];
      opened.consume(async (who) => {
        woken.push({ who, at: opened.now() });
        opened.index(who, undefined);
      });
    }

    async function arm(
      instanceId: string,
      inMs: number,
      covered = true,
    ): Promise<ArmedTimer & DisarmedTimer> {
      const since = opened.now();
      const dueAt = instantFrom(since + inMs);
      const timer = { tenant: "default", instanceId, ticket: "t1.1", dueAt, since, covered };
      if (covered) opened.index(instanceId, dueAt);
      await opened.timers.arm(timer);
      return timer;
    }

    /** The index contains every start event that is armed. */
    async function armStart(
      definitionId: string,
      inMs: number,
      n = 1,
    ): Promise<ArmedStart & DisarmedStart> {
      const since = opened.now();
      const dueAt = instantFrom(since + inMs);
      const event = { tenant: "default", definitionId, hash: "h1", element: "begin", run: 1, n };
      const start = { ...event, dueAt, since, covered: true };
      opened.index(whoIs(start), dueAt);
      await opened.timers.arm(start);
      return start;
    }

    const names = () => woken.map(({ who }) => who);

    for (const covered of [true, false]) {
      describe(covered ? "a timer that the index holds" : "a timer that the index hides", () => {
        test("wakes its instance at its instant, not before", async () => {
          await arm("a", 60_000, covered);

          await opened.pass(59_999);
          expect(names()).toEqual([]);
          await opened.pass(1);
          expect(names()).toEqual(["a"]);
        });

        test("wakes at once when it is due already", async () => {
          await arm("a", 0, covered);
          await arm("b", -3_600_000, covered);
          await opened.pass(0);

          expect(names().toSorted()).toEqual(["a", "b"]);
        });

        test("wakes one after the other, including distant ones", async () => {
          await arm("far", 2 * 3_600_000, covered);
          await arm("near", 1_500, covered);

          await opened.pass(1_500 + (opened.latenessMs ?? 0));
          expect(names()).toEqual(["near"]);
          await opened.pass(2 * 3_600_000);
          expect(names()).toEqual(["near", "far"]);
        });
      });
    }

    describe("F16 a timer start event", () => {
      test("fires at its instant, not before", async () => {
        await armStart("monthly", 60_000);

        await opened.pass(59_999);
        expect(names()).toEqual([]);
        await opened.pass(1);
        expect(names()).toEqual(["monthly 1"]);
      });

      test("fires at once when it is already due, beside waiting instances", async () => {
        await armStart("late", -3_600_000);
        await arm("a", 0);
        await opened.pass(0);

        expect(names().toSorted()).toEqual(["a", "late 1"]);
      });

      test("fires again at its next occurrence, including distant ones", async () => {
        opened.consume(async (who) => {
          woken.push({ who, at: opened.now() });
          opened.index(who, undefined);
          if (who === "hourly 1") await armStart("hourly", 2 * 3_600_000, 2);
        });
        await armStart("hourly", 2 * 3_600_000);

        await opened.pass(2 * 3_600_000 + (opened.latenessMs ?? 0));
        expect(names()).toEqual(["hourly 1"]);
        await opened.pass(2 * 3_600_000 + (opened.latenessMs ?? 0));
        expect(names()).toEqual(["hourly 1", "hourly 2"]);
      });

      test("does not fire after it was disarmed", async () => {
        const far = await armStart("far", 2 * 3_600_000);
        const near = await armStart("near", 2_000);
        await armStart("kept", 2_000);
        for (const start of [far, near]) {
          opened.index(whoIs(start), undefined);
          await opened.timers.disarm(start);
        }
        await opened.pass(3 * 3_600_000);

        expect(names()).toEqual(["kept 1"]);
      });
    });

    test("do not fire after they were disarmed", async () => {
      const timer = await arm("a", 1_000, false);
      await arm("b", 1_000, false);
      await opened.timers.disarm(timer);
      await opened.pass(60_000);

      expect(names()).toEqual(["b"]);
    });

    test("may be disarmed twice, or without being armed", async () => {
      const timer = await arm("a", 1_000, false);
      await opened.timers.disarm(timer);

      await expect(opened.timers.disarm(timer)).resolves.toBeUndefined();
      await expect(opened.timers.disarm({ ...timer, ticket: "t9.9" })).resolves.toBeUndefined();
    });

    test("wake every instance that is due at the same instant", async () => {
      const all = Array.from({ length: 300 }, (_, n) => `i${String(n).padStart(3, "0")}`);
      for (const instanceId of all) await arm(instanceId, 1_000);
      await opened.pass(1_000);

      expect(names().toSorted()).toEqual(all);
    });

    test("are never early and all fire, whatever is armed when", async () => {
      const step = fc.record({
        instance: fc.integer({ min: 0, max: 20 }),
        inMs: fc.integer({ min: -10, max: 5_000 }),
        covered: fc.boolean(),
        thenMs: fc.integer({ min: 0, max: 2_000 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          await opened.close();
          await reopen();
          const dueAt = new Map<string, Instant>();
          for (const [n, { instance, inMs, covered, thenMs }] of steps.entries()) {
            const timer = await arm(`${instance}-${n}`, inMs, covered);
            dueAt.set(timer.instanceId, timer.dueAt);
            await opened.pass(thenMs);
          }
          await opened.pass(5_000 + (opened.latenessMs ?? 0));

          for (const { who, at } of woken) {
            expect(at).toBeGreaterThanOrEqual(dueAt.get(who) ?? Number.POSITIVE_INFINITY);
          }
          expect(new Set(names())).toEqual(new Set(dueAt.keys()));
        }),
        { numRuns: runs },
      );
    });
  });
}
