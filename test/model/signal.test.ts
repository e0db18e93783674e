import { describe, expect, test } from "vitest";
import { type Exploration, explore } from "./explore.ts";
import { signal, strayRow } from "./signal.ts";
import {
  type Bounds,
  LOOP,
  MUTANTS,
  type Mutant,
  ONE,
  STAYS,
  type State,
  THROWER,
} from "./signal-state.ts";

// FERMATA_LONG=1 searches the larger worlds too.
const isLong = process.env.FERMATA_LONG === "1";
const LONG_MS = 600_000;

/** Everything that is claimed, the stronger claim about rows included. */
function exploreWhole(bounds: Bounds): Exploration {
  const model = signal(bounds);
  const unfinished = (state: State) => model.unfinished(state) ?? strayRow(state);
  return explore({ ...model, unfinished });
}

type World = Readonly<{ name: string; bounds: Bounds; states: number }>;

const one = { calls: ["b1"], handlers: 2 };
const two = { calls: ["b1", "b2"], handlers: 2 };
const inMemory = { ...two, queues: "memory" } as const;

// The counts say that the world did not shrink unnoticed: a change of the model changes them.
const worlds: readonly World[] = [
  {
    name: "two broadcasts while a loop subscribes again and again",
    bounds: { ...two, script: LOOP },
    states: 20_185,
  },
  {
    name: "a crash, another crash, and a fan-out that comes twice",
    bounds: { ...one, script: ONE, crashes: 2, duplicates: 1 },
    states: 16_527,
  },
  {
    name: "row and instance seen one after the other, in a loop",
    bounds: { ...two, script: LOOP, split: true },
    states: 26_955,
  },
  {
    name: "a page done in place that crashes",
    bounds: { ...two, script: ONE, inPlace: true, crashes: 1 },
    states: 22_842,
  },
  {
    name: "a wait that stays open, broadcasts out of order, seen in halves",
    bounds: { ...two, script: STAYS, split: true },
    states: 16_105,
  },
  {
    name: "queues in memory, a loop, a crash of everything",
    bounds: { ...inMemory, script: LOOP, crashes: 1 },
    states: 19_206,
  },
  {
    name: "queues in memory, a wait that stays open, a crash of everything",
    bounds: { ...inMemory, script: STAYS, crashes: 1 },
    states: 17_602,
  },
  {
    name: "calls that deliver themselves, and their copies on the bus",
    bounds: { ...one, script: LOOP, small: true, crashes: 1, duplicates: 1 },
    states: 23_340,
  },
  {
    name: "a path that throws what it then waits for, and a parallel one, a crash",
    bounds: { ...one, calls: [], script: THROWER, crashes: 1, duplicates: 1 },
    states: 22_463,
  },
];
const largeWorlds: readonly World[] = [
  {
    name: "a path that throws what it then waits for, and a parallel one, and another broadcast",
    bounds: { ...two, calls: ["b2"], script: THROWER },
    states: 46_547,
  },
  {
    name: "calls that deliver themselves, a loop, two broadcasts",
    bounds: { ...two, script: LOOP, small: true },
    states: 59_085,
  },
  {
    name: "two broadcasts, three handlers, a loop",
    bounds: { ...two, script: LOOP, handlers: 3 },
    states: 108_500,
  },
  {
    name: "two broadcasts, two crashes, a fan-out that comes twice",
    bounds: { ...two, script: ONE, crashes: 2, duplicates: 1 },
    states: 669_955,
  },
  {
    name: "seen in halves, a crash",
    bounds: { ...two, script: ONE, split: true, crashes: 1 },
    states: 62_784,
  },
  {
    name: "seen in halves, a crash, three handlers, a loop",
    bounds: { ...one, script: LOOP, split: true, crashes: 1, duplicates: 1, handlers: 3 },
    states: 50_466,
  },
  {
    name: "seen in halves, an interrupting timer",
    bounds: { ...two, script: LOOP, split: true, interrupts: 1 },
    states: 59_753,
  },
  {
    name: "a loop and a crash",
    bounds: { ...two, script: LOOP, crashes: 1 },
    states: 175_216,
  },
  {
    name: "a page done in place that crashes, a loop",
    bounds: { ...two, script: LOOP, inPlace: true, crashes: 1 },
    states: 64_812,
  },
  {
    name: "a page done in place that comes twice, a loop",
    bounds: { ...two, script: LOOP, inPlace: true, duplicates: 1 },
    states: 45_599,
  },
  {
    name: "a call that delivers itself, two crashes, a fan-out that comes twice",
    bounds: { ...one, script: LOOP, small: true, crashes: 2, duplicates: 1 },
    states: 71_593,
  },
  {
    name: "calls that deliver themselves, a crash",
    bounds: { ...two, script: ONE, small: true, crashes: 1 },
    states: 225_498,
  },
  {
    name: "a wait that stays open, a crash",
    bounds: { ...two, script: STAYS, crashes: 1 },
    states: 107_684,
  },
  {
    name: "a path that catches its own, two crashes, a fan-out that comes twice",
    bounds: { ...one, calls: [], script: THROWER, crashes: 2, duplicates: 1 },
    states: 62_979,
  },
  {
    name: "queues in memory, a loop, two crashes of everything",
    bounds: { ...inMemory, script: LOOP, crashes: 2 },
    states: 44_800,
  },
  {
    name: "queues in memory, a path that throws, a crash of everything",
    bounds: { ...inMemory, calls: ["b2"], script: THROWER, crashes: 1 },
    states: 31_775,
  },
];

describe("signals, searched exhaustively (races 8 to 13, 32 and 45)", () => {
  test.each(isLong ? [...worlds, ...largeWorlds] : worlds)(
    "reach exactly those whose first head read precedes the broadcast, once: $name",
    { timeout: LONG_MS },
    ({ bounds, states }) => {
      const found = exploreWhole(bounds);

      expect(found.counterexample).toBeUndefined();
      expect(found.states).toBe(states);
    },
  );

  test("reach every situation in which a rule matters", () => {
    const places = [
      "at first only the row",
      "at first only the instance",
      "the other half is applied",
      "page:b1:w1.2.0 crashes, phase send",
      "bus:b1 crashes, phase send",
      "start crashes, phase applying",
      "looks for the row of w1",
      "start reads head 1 again for w1",
      "start sends w1@b1",
      "conflicts, parks w1@b1",
      "call:b1 is repeated",
      "gets start again",
    ];

    const { labels } = exploreWhole({
      ...one,
      script: ONE,
      split: true,
      crashes: 1,
      duplicates: 1,
    });

    const seen = [...labels];
    expect(places.filter((place) => !seen.some((label) => label.includes(place)))).toEqual([]);
  });
});

describe("signals with one rule left out", () => {
  const lost = /is lost/;
  type Killer = Readonly<{ bounds: Bounds; problem: RegExp; steps: number }>;
  const killers: Record<Mutant, Killer> = {
    "no fence": { bounds: { ...two, script: STAYS, split: true }, problem: lost, steps: 33 },
    "row before the instance": {
      bounds: { ...one, script: ONE, crashes: 1 },
      problem: /w1 gets b1, counted before/,
      steps: 20,
    },
    "instance before the row": {
      bounds: { ...one, script: ONE, crashes: 1 },
      problem: /waits for ever/,
      steps: 14,
    },
    "eventual read of the instance": { bounds: { ...two, script: ONE }, problem: lost, steps: 25 },
    "no afterSeq": {
      bounds: { ...one, script: ONE },
      problem: /w1 gets b1, counted before/,
      steps: 15,
    },
    "no second head read": { bounds: { ...one, script: ONE }, problem: lost, steps: 12 },
    "stale second head read": { bounds: { ...one, script: ONE }, problem: lost, steps: 13 },
    "row removed early": {
      bounds: { ...one, script: ONE, inPlace: true, crashes: 1 },
      problem: lost,
      steps: 19,
    },
    "row removed by another broadcast": {
      bounds: { ...two, script: ONE, small: true },
      problem: lost,
      steps: 31,
    },
    "row kept for small calls only": {
      bounds: { ...two, script: ONE, inPlace: true, crashes: 1 },
      problem: lost,
      steps: 27,
    },
    "redelivery does not look for the row": {
      bounds: { ...one, script: ONE, split: true, crashes: 1 },
      problem: lost,
      steps: 17,
    },
    "small call tidies": { bounds: { ...one, script: ONE, small: true }, problem: lost, steps: 18 },
    "small call before the bus": {
      bounds: { ...one, script: ONE, small: true, crashes: 1 },
      problem: lost,
      steps: 13,
    },
    "notIds ignored": {
      bounds: { ...one, calls: [], script: THROWER },
      problem: /thrown on its own path/,
      steps: 14,
    },
    "highest number for all": { bounds: { ...two, script: STAYS }, problem: lost, steps: 30 },
    "no expected head": { bounds: { ...inMemory, script: ONE }, problem: lost, steps: 19 },
    "parked in memory": {
      bounds: { ...inMemory, script: STAYS, crashes: 1 },
      problem: lost,
      steps: 25,
    },
    "looked at until published": {
      bounds: { ...inMemory, script: ONE, crashes: 1 },
      problem: lost,
      steps: 10,
    },
  };

  test.for(MUTANTS.map((mutant) => ({ mutant, ...killers[mutant] })))(
    "fail: $mutant, after $steps steps",
    async ({ mutant, bounds, problem, steps }, { annotate }) => {
      const { counterexample } = explore(signal(bounds, mutant));

      const chain = counterexample?.chain ?? [];
      await annotate([counterexample?.problem, ...chain].join("\n"), "counterexample");
      expect(counterexample?.problem).toMatch(problem);
      expect(chain.length).toBe(steps);
    },
  );

  test("need no fence if transactions are visible as a whole and reads are strong", () => {
    expect(explore(signal({ ...two, script: STAYS }, "no fence")).counterexample).toBeUndefined();
  });

  if (isLong) {
    test("lose a page done in place that comes twice at once and crashes: such a page must list its rows", {
      timeout: LONG_MS,
    }, () => {
      const bounds = { ...two, script: ONE, crashes: 1, duplicates: 1 };

      const { counterexample } = explore(signal({ ...bounds, inPlace: true }));

      expect(counterexample?.problem).toMatch(/k:w1@b2 is lost/);
      expect(counterexample?.chain.length).toBe(30);
    });
  }
});
