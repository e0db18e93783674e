import { describe, expect, test } from "vitest";
import { BATCH_SCENARIOS } from "./scenarios/batch.ts";
import type { Mode } from "./world/mode.ts";
import { calm, crashes, strike } from "./world/single-fault.ts";

const MODES: readonly Mode[] = ["durable", "memory"];

// Refusals are tried with every other scenario's, in single-fault.test.ts.
describe("a single crash among the items of a batch", () => {
  for (const scenario of BATCH_SCENARIOS) {
    for (const mode of MODES) {
      test(`before and after every port call harms nothing: ${scenario.name}, ${mode}`, async () => {
        const setting = { scenario, mode };

        expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
      });
    }
  }
});
