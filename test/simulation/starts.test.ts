import { describe, expect, test } from "vitest";
import { simulate } from "./run.ts";
import { calm, crashes, refusals, strike } from "./single-fault.ts";
import { START_SCENARIOS } from "./start-scenarios.ts";

describe("a start by timer", () => {
  test.each([
    ["timer-start", 5],
    ["timer-start-far", 2],
  ])("F16 begins as often as its cycle says: %s", async (name, count) => {
    const scenario = START_SCENARIOS.find((it) => it.name === name);
    if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
    for (const mode of ["durable", "memory"] as const) {
      const { problem, ending } = await simulate({ scenario, mode });

      expect(problem).toBeUndefined();
      expect(Object.keys(ending ?? {})).toHaveLength(count);
    }
  });
});

describe("a start by timer, with a single fault (F16)", () => {
  for (const scenario of START_SCENARIOS) {
    test(`is harmed by no crash and no refusal with durable queues: ${scenario.name}`, async () => {
      const setting = { scenario, mode: "durable" } as const;
      const calls = await calm(setting);

      expect(await strike(setting, [...crashes(calls), ...refusals(calls)])).toEqual([]);
    });

    test(`is harmed by no crash with queues in memory: ${scenario.name}`, async () => {
      const setting = { scenario, mode: "memory" } as const;

      expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
    });
  }
});
