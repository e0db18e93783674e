import { describe, expect, test } from "vitest";
import { choicesOf, type Setting, settingOf, simulate, simulateSeed } from "./world/run.ts";

/** More by `SIMULATED_SEEDS=100000 npx vitest run --project simulation random`. */
const SEEDS = Number(process.env.SIMULATED_SEEDS ?? 600);
const GROUP = 100;

/**
 * A known bug: if the process crashes while recovery offers the items of a batch whose handler was
 * removed, the last item is neither offered to workers nor run when the handler is registered again.
 */
const KNOWN = { seed: 439, scenario: "batch-handler-removed", mode: "memory" } as const;
const isKnown = (seed: number, { scenario, mode }: Setting): boolean =>
  seed === KNOWN.seed && scenario.name === KNOWN.scenario && mode === KNOWN.mode;

describe("a world of random faults", () => {
  for (let from = 1; from <= SEEDS; from += GROUP) {
    test(`keeps every promise, and is deterministic: seeds from ${from}`, async () => {
      const broken: string[] = [];
      for (let seed = from; seed < Math.min(from + GROUP, SEEDS + 1); seed++) {
        const setting = settingOf(seed);
        if (isKnown(seed, setting)) continue;
        const run = await simulateSeed(setting, choicesOf(seed));
        if (run.problem) broken.push(`npm run simulate -- --seed ${seed}: ${run.problem.message}`);
      }
      expect(broken).toEqual([]);
    });
  }

  test.each([
    [59, "message-boundary", "durable"],
    [83, "self-signal", "durable"],
    [62, "handlers-half-there", "durable"],
  ] as const)(
    "holds with a seed that once failed: seed %d, %s, %s queues",
    async (seed, scenario, mode) => {
      const run = await simulateSeed(settingOf(seed, { scenario, mode }), choicesOf(seed));

      expect(run.problem).toBeUndefined();
    },
  );

  test.fails("holds with the seed that is known to fail", async () => {
    const { seed, scenario, mode } = KNOWN;

    const run = await simulateSeed(settingOf(seed, { scenario, mode }), choicesOf(seed));

    expect(run.problem).toBeUndefined();
  });

  test("has crashes, refusals, standstills and redeliveries", async () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 60; seed++) {
      const { trace } = await simulate(settingOf(seed), { choices: choicesOf(seed) });
      for (const line of trace) {
        for (const word of [
          "crash at",
          '"busy"',
          '"unknown"',
          "standstill",
          "back",
          "duplicates",
        ]) {
          if (line.includes(word)) seen.add(word);
        }
      }
    }
    expect([...seen].sort()).toEqual(
      ["crash at", '"busy"', '"unknown"', "standstill", "back", "duplicates"].sort(),
    );
  });
});
