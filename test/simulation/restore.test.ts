import { describe, expect, test } from "vitest";
import { RESTORE_SCENARIOS, restoredAt } from "./scenarios/restore.ts";
import type { Mode } from "./world/mode.ts";
import { simulate } from "./world/run.ts";
import { calm, crashes, strike } from "./world/single-fault.ts";

const MODES: readonly Mode[] = ["durable", "memory"];

/** By then a run without faults waits for its timers. */
const BUSY_MS = 260;

describe("a restored store in a simulated world", () => {
  for (const mode of MODES) {
    test(`is recovered page by page, whenever everything else was lost: ${mode}`, async () => {
      const broken: string[] = [];
      for (let at = 1; at < BUSY_MS; at += 4) {
        const { problem } = await simulate({ scenario: restoredAt(at), mode });
        if (problem) broken.push(`${at} ms: ${problem.message}`);
      }
      expect(broken).toEqual([]);
    });
  }

  // The first differs from the second by its moment only, and moments are tried above.
  for (const scenario of RESTORE_SCENARIOS.slice(1)) {
    test(`survives a crash before and after every port call: ${scenario.name}`, async () => {
      const setting = { scenario, mode: "durable" } as const;

      expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
    });
  }
});
