import { describe, expect, test } from "vitest";
import type { Mode } from "./mode.ts";
import { CORE, SCENARIOS, TALK } from "./scenarios.ts";
import { calm, crashes, refusals, strike } from "./single-fault.ts";

const MODES: readonly Mode[] = ["durable", "memory"];

describe("a single crash", () => {
  for (const scenario of CORE) {
    for (const mode of MODES) {
      test(`before and after every port call harms nothing: ${scenario.name}, ${mode}`, async () => {
        const setting = { scenario, mode };

        expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
      });
    }
  }
});

describe("a single refusal", () => {
  const others = SCENARIOS.filter((scenario) => !TALK.includes(scenario));
  for (const scenario of others.filter(({ name }) => name !== "isolated")) {
    test(`at every port call harms nothing: ${scenario.name}`, async () => {
      const setting = { scenario, mode: "durable" } as const;

      expect(await strike(setting, refusals(await calm(setting)))).toEqual([]);
    });
  }
});
