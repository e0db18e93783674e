import { describe, expect, test } from "vitest";
import { ERASE_SCENARIOS, UNERASED } from "./scenarios/erase.ts";
import type { Mode } from "./world/mode.ts";
import { simulate } from "./world/run.ts";
import { calm, crashes, refusals, strike } from "./world/single-fault.ts";

const MODES: readonly Mode[] = ["durable", "memory"];

describe("erasing in a simulated world", () => {
  for (const scenario of ERASE_SCENARIOS) {
    for (const mode of MODES) {
      test(`survives a crash before and after every port call: ${mode}`, async () => {
        const setting = { scenario, mode };

        expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
      });

      test(`changes nothing for the recipients of its last effects: ${mode}`, async () => {
        const { ending } = await simulate({ scenario, mode });
        const { ending: without } = await simulate({ scenario: UNERASED, mode });

        expect(without).toHaveProperty(["dead letters"]);
        expect(ending).toEqual({ ...without, one: "erased" });
      });
    }

    test("survives a refusal at every port call", async () => {
      const setting = { scenario, mode: "durable" } as const;

      expect(await strike(setting, refusals(await calm(setting)))).toEqual([]);
    });
  }
});
