import { describe, expect, test } from "vitest";
import { type Bounds, consumeOnce, MUTANTS, type Mutant } from "./consume-once.ts";
import { explore } from "./explore.ts";

// FERMATA_LONG=1 searches the larger worlds too.
const isLong = process.env.FERMATA_LONG === "1";
const LONG_MS = 600_000;

type World = Readonly<{ name: string; bounds: Bounds; states: number }>;

const kept: Bounds = { mode: "kept", handlers: 2 };
const afterWait: Bounds = { mode: "AfterWait", handlers: 2 };

// The counts say that the world did not shrink unnoticed: a change of the model changes them.
const worlds: readonly World[] = [
  { name: "kept, a crash", bounds: { ...kept, crashes: 1 }, states: 80_259 },
  {
    name: "AfterWait, seen in halves, a crash",
    bounds: { ...afterWait, split: true, crashes: 1 },
    states: 92_251,
  },
];
const largeWorlds: readonly World[] = [
  {
    name: "kept, two crashes, comes twice",
    bounds: { ...kept, crashes: 2, duplicates: 1 },
    states: 777_680,
  },
  {
    name: "kept, seen in halves, an interrupting timer, a crash",
    bounds: { ...kept, split: true, interrupts: 1, crashes: 1 },
    states: 333_755,
  },
  {
    name: "AfterWait, seen in halves, an interrupting timer, a crash",
    bounds: { ...afterWait, split: true, interrupts: 1, crashes: 1 },
    states: 319_411,
  },
  {
    name: "AfterWait, three handlers, a crash",
    bounds: { ...afterWait, handlers: 3, crashes: 1 },
    states: 546_699,
  },
];

describe("an event for a single recipient, searched exhaustively (race 48)", () => {
  test.each(isLong ? [...worlds, ...largeWorlds] : worlds)(
    "is taken once by two waits, and never lost: $name",
    { timeout: LONG_MS },
    ({ bounds, states }) => {
      const found = explore(consumeOnce(bounds));

      expect(found.counterexample).toBeUndefined();
      expect(found.states).toBe(states);
    },
  );
});

describe("an event for a single recipient, with one rule left out", () => {
  type Killer = Readonly<{ bounds: Bounds; problem: RegExp; steps: number }>;
  const killers: Record<Mutant, Killer> = {
    "no transaction": { bounds: kept, problem: /taken twice/, steps: 19 },
    "no scan after the wait's commit": { bounds: kept, problem: /A waits for it/, steps: 15 },
    "no lookAt": { bounds: { ...kept, crashes: 1 }, problem: /A waits for it/, steps: 13 },
    "no fence": { bounds: { ...kept, split: true }, problem: /waits without a row/, steps: 30 },
    "id not remembered": { bounds: { ...kept, crashes: 1 }, problem: /taken twice/, steps: 22 },
    "given away before the offer is parked": {
      bounds: { ...kept, crashes: 1 },
      problem: /what A owes is lost/,
      steps: 16,
    },
    "redelivery does not look for the row": {
      bounds: { ...kept, split: true, interrupts: 1, crashes: 1 },
      problem: /waits for it/,
      steps: 22,
    },
  };

  test.for(MUTANTS.map((mutant) => ({ mutant, ...killers[mutant] })))(
    "fails: $mutant, after $steps steps",
    { timeout: LONG_MS },
    async ({ mutant, bounds, problem, steps }, { annotate }) => {
      const { counterexample } = explore(consumeOnce(bounds, mutant));

      const chain = counterexample?.chain ?? [];
      await annotate([counterexample?.problem, ...chain].join("\n"), "counterexample");
      expect(counterexample?.problem).toMatch(problem);
      expect(chain.length).toBe(steps);
    },
  );
});
