import { describe, expect, test } from "vitest";
import { CALL_SCENARIOS } from "./call-scenarios.ts";
import { calm, crashes, refusals, strike } from "./single-fault.ts";

describe("R14 S4 a single fault among callers and children", () => {
  for (const scenario of CALL_SCENARIOS) {
    test(`harms nothing with durable queues, a crash or a refusal: ${scenario.name}`, async () => {
      const setting = { scenario, mode: "durable" } as const;
      const calls = await calm(setting);

      expect(await strike(setting, [...crashes(calls), ...refusals(calls)])).toEqual([]);
    });

    test(`harms nothing with queues in memory, a crash: ${scenario.name}`, async () => {
      const setting = { scenario, mode: "memory" } as const;

      expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
    });
  }
});
