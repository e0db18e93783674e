import { describe, expect, test } from "vitest";
import type { Fault } from "./actors/actors.ts";
import type { Injection } from "./actors/troubles.ts";
import { SCENARIOS } from "./scenarios/all-scenarios.ts";
import { simulate } from "./world/run.ts";
import { calm, crashes, type PortCall, strike } from "./world/single-fault.ts";

const settingOf = (name: string) => {
  const scenario = SCENARIOS.find((candidate) => candidate.name === name);
  if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
  return { scenario, mode: "durable" } as const;
};

/** One run for each of these calls, which gets the fault. */
const meeting = (calls: readonly PortCall[], point: RegExp, fault: Fault): readonly Injection[] =>
  calls
    .filter((call) => point.test(call.point))
    .map(({ call }) => ({ call, side: "before", fault }));

describe("timers by the routes of AWS", () => {
  test.each(["timer-routes", "timer-wheel"])(
    "J17 range from seconds to years: %s",
    async (name) => {
      const { problem, ending } = await simulate(settingOf(name));

      expect(problem).toBeUndefined();
      expect(ending).toMatchObject({ one: { status: "succeeded" } });
    },
  );

  test.each(["timer-routes", "timer-wheel", "timer-earliest"])(
    "F17 J13 that come twice advance once: %s",
    async (name) => {
      const setting = settingOf(name);
      const twice = meeting(await calm(setting), /^(scheduler\.create|timers\.arm)$/, {
        fault: "duplicated",
      });

      expect(twice.length).toBeGreaterThan(3);
      expect(await strike(setting, twice)).toEqual([]);
    },
  );

  test("F18 J13 whose schedule is left behind after a cancel fire without effect", async () => {
    const setting = settingOf("timer-earliest");
    const left = meeting(await calm(setting), /^scheduler\.delete$/, { fault: "lost" });

    expect(left.length).toBeGreaterThan(0);
    expect(await strike(setting, left)).toEqual([]);
  });

  test.each(["timer-routes", "timer-cycle", "timer-undeployed"])(
    "F19 D19 that are never delivered are swept: %s",
    async (name) => {
      const setting = settingOf(name);
      const lost = meeting(await calm(setting), /^scheduler\.create$/, { fault: "never" });

      expect(lost.length).toBeGreaterThan(0);
      expect(await strike(setting, lost)).toEqual([]);
    },
  );

  test.each(["timer-lost", "timer-wheel", "timer-routes"])(
    "D19 survive a crash of any host: %s",
    async (name) => {
      const setting = settingOf(name);

      expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
    },
  );
});
