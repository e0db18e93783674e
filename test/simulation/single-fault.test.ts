import { describe, expect, test } from "vitest";
import type { Fault } from "./actors.ts";
import { compareWithFaultFree, type Run, type Setting, simulate } from "./run.ts";
import { CORE, SCENARIOS } from "./scenarios.ts";
import type { Mode } from "./stage.ts";

const MODES: readonly Mode[] = ["durable", "memory"];

describe("a single crash", () => {
  for (const scenario of CORE) {
    for (const mode of MODES) {
      test(`before and after every port call harms nothing: ${scenario.name}, ${mode}`, async () => {
        const calm = await simulate({ scenario, mode });
        expect(calm.problem).toBeUndefined();

        const broken = await everyCall({ scenario, mode }, calm, ["crash"]);

        expect(broken).toEqual([]);
      });
    }
  }
});

describe("a single refusal by the store", () => {
  const faults: readonly Fault[] = [
    { fault: "busy", retryAfterMs: 20 },
    { fault: "unknown", applied: true },
    { fault: "unknown", applied: false },
    { fault: "unknown", applied: "later" },
  ];
  for (const scenario of SCENARIOS.filter(({ name }) => name !== "isolated")) {
    test(`at every port call harms nothing: ${scenario.name}`, async () => {
      const setting: Setting = { scenario, mode: "durable" };

      const broken = await everyCall(setting, await simulate(setting), faults);

      expect(broken).toEqual([]);
    });
  }
});

/** One run for each call, side and fault; says what broke, and where. */
async function everyCall(
  setting: Setting,
  { calls }: Run,
  faults: readonly ("crash" | Fault)[],
): Promise<readonly string[]> {
  const broken: string[] = [];
  for (let call = 1; call <= calls; call++) {
    for (const fault of faults) {
      for (const side of fault === "crash"
        ? (["before", "after"] as const)
        : (["before"] as const)) {
        const injection = { call, side, fault };
        const run = await compareWithFaultFree(setting, await simulate(setting, { injection }));
        if (run.problem) broken.push(`${JSON.stringify(injection)}: ${run.problem.message}`);
      }
    }
  }
  return broken;
}
