import { describe, expect, test } from "vitest";
import { wheelTimers } from "../../../lib/adapters/scheduler/wheel-timers.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";

const now = instantFrom(Date.UTC(2030, 0, 1));

describe("timers beside a wheel", () => {
  test.each([
    ["near", 900_000, true, [900_000]],
    ["far", 900_001, true, []],
    ["far, that only the wheel can find", 900_001, false, [900_001]],
    ["overdue", -5_000, true, [0]],
  ])("are queued, or left to the wheel: %s", async (_, inMs, covered, delays) => {
    const sent: number[] = [];
    const queue = { send: async (_message: unknown, afterMs: number) => void sent.push(afterMs) };
    const timers = wheelTimers({ queue, clock: { now: () => now }, queueMaxSeconds: 900 });
    const names = { tenant: "default", instanceId: "order-1", ticket: "t1.1" };

    await timers.arm({ ...names, dueAt: instantFrom(now + inMs), covered });

    expect(sent).toEqual(delays);
  });
});
