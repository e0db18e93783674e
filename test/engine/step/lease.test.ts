import { describe, expect, test } from "vitest";
import { SimulatedClock, SimulatedTime } from "../../../lib/adapters/simulated/clock.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { leaseLeftMs } from "../../../lib/engine/step/owed.ts";
import { MANY_PROCESSES } from "../../../lib/engine/world.ts";

const clock = new SimulatedClock({ time: new SimulatedTime(instantFrom(1_000_000)) });
const settings = { tenant: "default", retentionMs: 1, host: MANY_PROCESSES };
const here = { ...settings, isDeadOwner: (own: string) => own.startsWith("1-") };
const until = (afterMs: number, owner: string | null = "2-1") => ({
  trigger: "k1.1/1",
  owner,
  expiresAt: instantFrom(1_000_000 + afterMs),
});

describe("the remaining time of a lease", () => {
  test.each([
    ["where owners may be anywhere, all of it", settings, until(60_000), 60_000],
    ["where owners are in this process, a second at most", here, until(60_000), 1_000],
    ["where owners are in this process, less if it ends sooner", here, until(300), 300],
    ["of an owner that died with its process, nothing", here, until(60_000, "1-1"), 0],
    ["without an owner, nothing", here, until(60_000, null), 0],
    ["that is over, nothing", settings, until(-1), 0],
  ])("%s", (_, world, lease, left) => {
    expect(leaseLeftMs({ settings: world, clock }, lease)).toBe(left);
  });
});
