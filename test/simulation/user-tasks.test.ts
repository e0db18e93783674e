import { describe, expect, test } from "vitest";
import { USER_TASK_SCENARIOS } from "./scenarios/user-task.ts";
import type { Mode } from "./world/mode.ts";
import { calm, crashes, strike } from "./world/single-fault.ts";

const MODES: readonly Mode[] = ["durable", "memory"];

describe("a single crash among users", () => {
  for (const scenario of USER_TASK_SCENARIOS) {
    for (const mode of MODES) {
      test(`before and after every port call harms nothing: ${scenario.name}, ${mode}`, async () => {
        const setting = { scenario, mode };

        expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
      });
    }
  }
});
