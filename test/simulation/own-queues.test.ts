import { describe, expect, test } from "vitest";
import { OWN_QUEUE_SCENARIOS } from "./scenarios/own-queue.ts";
import { simulate } from "./world/run.ts";
import { calm, crashes, refusals, strike } from "./world/single-fault.ts";

describe("a user's own queue in a simulated world", () => {
  for (const scenario of OWN_QUEUE_SCENARIOS) {
    const setting = { scenario, mode: "durable" } as const;

    test(`survives a crash before and after every port call: ${scenario.name}`, async () => {
      expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
    });

    test(`survives a refusal at every port call: ${scenario.name}`, async () => {
      expect(await strike(setting, refusals(await calm(setting)))).toEqual([]);
    });

    test(`gets tasks at all: ${scenario.name}`, async () => {
      const { trace } = await simulate(setting);

      const sent = trace.filter((line) => line.includes("after own-queue.send"));
      expect(sent.length).toBeGreaterThan(1);
    });
  }
});
