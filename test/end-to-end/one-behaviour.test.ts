import { beforeAll, describe, expect, test } from "vitest";
import { client, pause } from "../support/deployed.ts";
import { playScenario, readScenarios, type ScenarioHost } from "../support/scenario.ts";
import { embeddedHost } from "../support/scenario-hosts.ts";

/** Time passes there by itself. */
const deployedHost: ScenarioHost = { client, pass: async () => {}, pause };

describe("the same scenario", () => {
  const scenarios = readScenarios();
  const plays = new Map<string, ReturnType<typeof playScenario>>();

  // All of them at once, since they wait for real time; each test asks for its own.
  beforeAll(() => {
    for (const scenario of scenarios) {
      const played = playScenario(scenario, deployedHost);
      played.catch(() => {}); // Its test tells.
      plays.set(scenario.name, played);
    }
  });

  for (const scenario of scenarios) {
    test(`${scenario.name} has the same history embedded and deployed`, async () => {
      const embedded = await playScenario(scenario, await embeddedHost());
      const deployed = (await plays.get(scenario.name)) ?? {};

      expect(Object.values(deployed).flat()).not.toEqual([]);
      expect(deployed).toEqual(embedded);
    });
  }
});
