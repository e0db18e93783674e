import { describe, expect, test } from "vitest";
import { FAMILY_OUTSIDE_SCENARIOS } from "./scenarios/family-outside.ts";
import type { Mode } from "./world/mode.ts";
import { calm, crashes, strike } from "./world/single-fault.ts";

const MODES: readonly Mode[] = ["durable", "memory"];

// Refusals are tried with every other scenario's, in single-fault.test.ts.
describe("members of a family that those outside do, or that must not run twice", () => {
  for (const scenario of FAMILY_OUTSIDE_SCENARIOS) {
    for (const mode of MODES) {
      test(`survive a crash before and after every port call: ${scenario.name}, ${mode}`, async () => {
        const setting = { scenario, mode };

        expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
      });
    }
  }
});
