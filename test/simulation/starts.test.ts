import { describe, expect, test } from "vitest";
import { START_SCENARIOS } from "./scenarios/start.ts";
import { testEveryFault } from "./single-fault-tests.ts";
import { simulate } from "./world/run.ts";

describe("a timer start event", () => {
  test.each([
    ["timer-start", 5],
    ["timer-start-far", 2],
  ])("F16 fires as often as its cycle says: %s", async (name, count) => {
    const scenario = START_SCENARIOS.find((it) => it.name === name);
    if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
    for (const mode of ["durable", "memory"] as const) {
      const { problem, ending } = await simulate({ scenario, mode });

      expect(problem).toBeUndefined();
      expect(Object.keys(ending ?? {})).toHaveLength(count);
    }
  });
});

describe("F16 a single fault among timer starts", () => testEveryFault(START_SCENARIOS));
