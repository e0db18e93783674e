import { describe, expect, test } from "vitest";
import { TALK } from "./scenarios.ts";
import { calm, crashes, refusals, strike } from "./single-fault.ts";

describe("a single fault among signals, messages and events", () => {
  for (const scenario of TALK) {
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
