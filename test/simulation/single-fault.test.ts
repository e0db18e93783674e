import { describe, expect, test } from "vitest";
import { CORE, MESSAGING, SCENARIOS } from "./scenarios/all-scenarios.ts";
import { CALL_SCENARIOS } from "./scenarios/call.ts";
import { CALL_BATCH_SCENARIOS } from "./scenarios/call-batch.ts";
import { ERASE_SCENARIOS } from "./scenarios/erase.ts";
import { HEAVY_SCENARIOS } from "./scenarios/heavy.ts";
import { LISTING_SCENARIOS } from "./scenarios/listing.ts";
import { START_SCENARIOS } from "./scenarios/start.ts";
import { WORKER_SCENARIOS } from "./scenarios/worker.ts";
import type { Mode } from "./world/mode.ts";
import { calm, crashes, refusals, strike } from "./world/single-fault.ts";

const MODES: readonly Mode[] = ["durable", "memory"];

/** Those whose refusals are tried beside their crashes, in separate tests. */
const ELSEWHERE = [
  ...MESSAGING,
  ...CALL_SCENARIOS,
  ...CALL_BATCH_SCENARIOS.filter(({ name }) => name === "call-batch-refused"),
  ...ERASE_SCENARIOS,
  ...LISTING_SCENARIOS,
  ...START_SCENARIOS,
  ...WORKER_SCENARIOS.filter(({ name }) => name !== "workers-alone"),
];

describe("a single crash", () => {
  for (const scenario of [...CORE, ...HEAVY_SCENARIOS]) {
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
