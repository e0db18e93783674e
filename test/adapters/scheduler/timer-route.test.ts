import { describe, expect, test } from "vitest";
import { timerRouteOf, wheelReachMs } from "../../../lib/adapters/scheduler/timer-route.ts";
import { formatInstant, instantFrom } from "../../../lib/definition/time/instant.ts";

const now = instantFrom(Date.UTC(2030, 0, 1, 12));
const settings = { queueMaxSeconds: 900, leadSeconds: 90 };
const route = (inMs: number, changed: Partial<typeof settings> = {}) =>
  timerRouteOf({ dueAt: instantFrom(now + inMs), now }, { ...settings, ...changed });

describe("the route of a timer", () => {
  test.each([-3_600_000, 0, 1, 900_000])("that is due in %i ms is the queue", (inMs) => {
    expect(route(inMs)).toEqual({ by: "queue" });
  });

  test.each([900_001, 3_600_000, 100 * 365 * 86_400_000])(
    "that is due in %i ms is a schedule",
    (inMs) => {
      expect(route(inMs)).toMatchObject({ by: "schedule" });
    },
  );

  test("is a schedule that fires 90 s ahead, at a whole second and never late", () => {
    expect(route(3_600_000)).toEqual({ by: "schedule", at: now + 3_510_000 });
    expect(route(3_600_999)).toEqual({ by: "schedule", at: now + 3_510_000 });
    expect(route(3_601_000)).toEqual({ by: "schedule", at: now + 3_511_000 });
  });

  test("follows the settings of a local deployment", () => {
    const local = { queueMaxSeconds: 20, leadSeconds: 5 };

    expect(route(20_000, local)).toEqual({ by: "queue" });
    expect(route(20_001, local)).toEqual({ by: "schedule", at: now + 15_000 });
  });

  test("is the queue when a schedule would have to fire at once", () => {
    const short = { queueMaxSeconds: 60, leadSeconds: 90 };

    expect(route(94_999, short)).toEqual({ by: "queue" });
    expect(route(95_000, short)).toEqual({ by: "schedule", at: now + 5_000 });
  });

  test("ends at the last instant", () => {
    const at = route(Number.MAX_SAFE_INTEGER);

    expect(at).toMatchObject({ by: "schedule" });
    expect(at.by === "schedule" && formatInstant(at.at)).toBe("9999-12-31T23:58:29.000Z");
  });
});

describe("the reach of the queue beside a wheel", () => {
  test.each([
    [900, 900_000],
    [600, 600_000],
    [20, 420_000],
    [3_600, 900_000],
  ])(
    "set to %i s is %i ms: further than the wheel looks ahead, within the maximum delay of a queue",
    (set, reach) => {
      expect(wheelReachMs(set)).toBe(reach);
    },
  );
});
