// The tests of scenarios that each have one fault, wherever it can strike. Test files that share them
// run at the same time; with everything in one, a core would wait for the other.
import { expect, test } from "vitest";
import type { Scenario } from "./scenarios/scenario.ts";
import { calm, crashes, refusals, strike } from "./world/single-fault.ts";

/** Every crash and every refusal with durable queues, every crash with queues in memory. */
export function testEveryFault(scenarios: readonly Scenario[]): void {
  for (const scenario of scenarios) {
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
}
