import { describe, expect, test } from "vitest";
import { CALL_FAMILY_SCENARIOS } from "./call-family-scenarios.ts";
import { CALL_SCENARIOS } from "./call-scenarios.ts";
import { ERASE_SCENARIOS } from "./erase-scenarios.ts";
import { LISTING_SCENARIOS } from "./listing-scenarios.ts";
import type { Mode } from "./mode.ts";
import { CORE, SCENARIOS, TALK } from "./scenarios.ts";
import { calm, crashes, refusals, strike } from "./single-fault.ts";
import { START_SCENARIOS } from "./start-scenarios.ts";
import { WORKER_SCENARIOS } from "./worker-scenarios.ts";

const MODES: readonly Mode[] = ["durable", "memory"];

/** Those whose refusals are tried beside their crashes, in tests of their own. */
const ELSEWHERE = [
  ...TALK,
  ...CALL_SCENARIOS,
  ...CALL_FAMILY_SCENARIOS.filter(({ name }) => name === "call-family-refused"),
  ...ERASE_SCENARIOS,
  ...LISTING_SCENARIOS,
  ...START_SCENARIOS,
  ...WORKER_SCENARIOS.filter(({ name }) => name !== "workers-alone"),
];

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
  const others = SCENARIOS.filter((scenario) => !ELSEWHERE.includes(scenario));
  for (const scenario of others.filter(({ name }) => name !== "isolated")) {
    test(`at every port call harms nothing: ${scenario.name}`, async () => {
      const setting = { scenario, mode: "durable" } as const;

      expect(await strike(setting, refusals(await calm(setting)))).toEqual([]);
    });
  }
});
