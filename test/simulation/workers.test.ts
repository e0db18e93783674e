import { describe, expect, test } from "vitest";
import { WORKER_SCENARIOS } from "./scenarios/worker.ts";
import type { Mode } from "./world/mode.ts";
import { calm, crashes, refusals, strike } from "./world/single-fault.ts";

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
