import { describe, expect, test } from "vitest";
import type { Mode } from "./mode.ts";
import { calm, crashes, refusals, strike } from "./single-fault.ts";
import { WORKER_SCENARIOS } from "./worker-scenarios.ts";

const MODES: readonly Mode[] = ["durable", "memory"];

describe("workers in a simulated world (race 47)", () => {
  for (const scenario of WORKER_SCENARIOS.filter(({ name }) => name !== "workers-alone")) {
    for (const mode of MODES) {
      test(`survive a crash before and after every port call: ${scenario.name}, ${mode}`, async () => {
        const setting = { scenario, mode };

        expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
      });
    }

    test(`survive a refusal at every port call: ${scenario.name}`, async () => {
      const setting = { scenario, mode: "durable" } as const;

      expect(await strike(setting, refusals(await calm(setting)))).toEqual([]);
    });
  }
});
