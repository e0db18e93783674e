import { describe, expect, test } from "vitest";
import { SHARED_TASK_SCENARIOS } from "./scenarios/shared-task.ts";
import type { Mode } from "./world/mode.ts";
import { calm, crashes, strike } from "./world/single-fault.ts";

const MODES: readonly Mode[] = ["durable", "memory"];

// Refusals are tried with every other scenario's, in single-fault.test.ts.
describe("user tasks that are also jobs, in a simulated world", () => {
  for (const scenario of SHARED_TASK_SCENARIOS.filter(({ name }) => !name.endsWith("-alone"))) {
    for (const mode of MODES) {
      test(`survive a crash before and after every port call: ${scenario.name}, ${mode}`, async () => {
        const setting = { scenario, mode };

        expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
      });
    }
  }
});
