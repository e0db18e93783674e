import { describe, expect, test } from "vitest";
import { HTTP_SCENARIOS } from "./scenarios/http.ts";
import type { Mode } from "./world/mode.ts";
import { calm, crashes, strike } from "./world/single-fault.ts";

const MODES: readonly Mode[] = ["durable", "memory"];

describe("an HTTP task in a simulated world", () => {
  for (const scenario of HTTP_SCENARIOS) {
    for (const mode of MODES) {
      test(`F67 pays once, whatever crashes before and after every port call: ${scenario.name}, ${mode}`, async () => {
        const setting = { scenario, mode };

        expect(await strike(setting, crashes(await calm(setting)))).toEqual([]);
      });
    }
  }
});
