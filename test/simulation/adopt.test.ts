import { describe, expect, test } from "vitest";
import { ADOPT_SCENARIOS } from "./scenarios/adopt.ts";
import type { Mode } from "./world/mode.ts";
import { simulate } from "./world/run.ts";
import { calm, crashes, strike } from "./world/single-fault.ts";

const MODES: readonly Mode[] = ["durable", "memory"];

describe("handlers that are added and removed in a simulated world", () => {
  for (const scenario of ADOPT_SCENARIOS) {
    for (const mode of MODES) {
      test(`survive a crash before and after every port call: ${scenario.name}, ${mode}`, async () => {
        const setting = { scenario, mode };

        expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
      });
    }
  }

  test("get what was offered before they were added, and what is removed is offered again", async () => {
    const [scenario] = ADOPT_SCENARIOS;
    if (scenario === undefined) throw new Error("there is no scenario");

    const { trace } = await simulate({ scenario, mode: "durable" });

    const adopted = trace.filter((line) => line.includes("adoption: after tasks.send"));
    const rows = trace.filter((line) => line.includes("stored default#J#work#"));
    expect(adopted.length).toBeGreaterThan(1);
    expect(rows.length).toBeGreaterThan(1);
  });
});
