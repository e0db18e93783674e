import { describe, expect, test } from "vitest";
import { CALL_BATCH_SCENARIOS } from "./scenarios/call-batch.ts";
import type { Mode } from "./world/mode.ts";
import { calm, crashes, strike } from "./world/single-fault.ts";

const MODES: readonly Mode[] = ["durable", "memory"];

// Refusals are tried with every other scenario's, in single-fault.test.ts. Children that cannot
// start take the longest, and call-fault.test.ts covers a single one; a batch that is cancelled
// midway is cancelled at its start and at its end here: random runs have both.
const RANDOM_ONLY = ["call-batch-refused", "call-batch-cancelled-midway"];
const STRUCK = CALL_BATCH_SCENARIOS.filter(({ name }) => !RANDOM_ONLY.includes(name));

describe("R14 S4 a single crash among the children of a batch", () => {
  for (const scenario of STRUCK) {
    for (const mode of MODES) {
      test(`before and after every port call harms nothing: ${scenario.name}, ${mode}`, async () => {
        const setting = { scenario, mode };

        expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
      });
    }
  }
});
