import { describe, expect, test } from "vitest";
import { playScenario, readScenarios } from "../support/scenario.ts";
import { embeddedHost, simulatedHost } from "../support/scenario-hosts.ts";

describe("the same scenario", () => {
  const scenarios = readScenarios();

  test("is in files, and there are many", () => {
    expect(scenarios.length).toBeGreaterThanOrEqual(14);
  });

  for (const scenario of scenarios) {
    test(`${scenario.name} has the same history embedded and simulated`, async () => {
      const embedded = await playScenario(scenario, await embeddedHost());
      const simulated = await playScenario(scenario, await simulatedHost());

      expect(Object.values(embedded).flat()).not.toEqual([]);
      expect(simulated).toEqual(embedded);
    });
  }
});
