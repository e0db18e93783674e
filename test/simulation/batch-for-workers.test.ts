import { describe, expect, test } from "vitest";
import { BATCH_FOR_WORKERS_SCENARIOS } from "./scenarios/batch-for-workers.ts";
import type { Mode } from "./world/mode.ts";
import { calm, crashes, strike } from "./world/single-fault.ts";

const MODES: readonly Mode[] = ["durable", "memory"];

// Refusals are tried with every other scenario's, in single-fault.test.ts.
describe("items of a batch that workers run, or that are exclusive", () => {
  for (const scenario of BATCH_FOR_WORKERS_SCENARIOS) {
    for (const mode of MODES) {
      test(`survive a crash before and after every port call: ${scenario.name}, ${mode}`, async () => {
        const setting = { scenario, mode };

        expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
      });
    }
  }
});
