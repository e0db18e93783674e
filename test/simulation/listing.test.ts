import { describe, expect, test } from "vitest";
import { LISTING_SCENARIOS } from "./scenarios/listing.ts";
import type { Mode } from "./world/mode.ts";
import { calm, crashes, refusals, strike } from "./world/single-fault.ts";

const MODES: readonly Mode[] = ["durable", "memory"];

describe("finding instances, and bulk operations, in a simulated world", () => {
  for (const scenario of LISTING_SCENARIOS) {
    for (const mode of MODES) {
      test(`survives a crash before and after every port call: ${scenario.name}, ${mode}`, async () => {
        const setting = { scenario, mode };

        expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
      });
    }

    test(`survives a refusal at every port call: ${scenario.name}`, async () => {
      const setting = { scenario, mode: "durable" } as const;

      expect(await strike(setting, refusals(await calm(setting)))).toEqual([]);
    });
  }
});
