import { describe, expect, test } from "vitest";
import { type Exploration, explore } from "./explore.ts";
import { mailbox, unseenWait } from "./mailbox.ts";
import { type Bounds, MUTANTS, type Mutant, type State } from "./mailbox-state.ts";

// FERMATA_LONG=1 searches the larger worlds too.
const isLong = process.env.FERMATA_LONG === "1";
const LONG_MS = 600_000;

/** Everything that is claimed, the stronger claim about waiters included. */
function exploreWhole(bounds: Bounds): Exploration {
  const model = mailbox(bounds);
  const unfinished = (state: State) => model.unfinished(state) ?? unseenWait(state);
  return explore({ ...model, unfinished });
}

type World = Readonly<{ name: string; bounds: Bounds; states: number }>;

const once = { id: "A", process: "p", waits: 1 };
const again = { id: "A", process: "p", waits: 2 };
const rival = { id: "B", process: "p", waits: 1 };
const stranger = { id: "B", process: "q", waits: 1 };
const one = { publications: ["call:m1"], handlers: 2 };
const two = { publications: ["call:m1", "call:m2"], handlers: 2 };

// The counts say that the world did not shrink unnoticed: a change of the model changes them.
const worlds: readonly World[] = [
  {
    name: "one message, two waits in turn, an interrupting timer, a crash (races 14 to 17)",
    bounds: { ...one, waiters: [again], handlers: 3, interrupts: 1, crashes: 1 },
    states: 36_661,
  },
  {
    name: "one message, two of one process id, an interrupting timer, a crash (race 18)",
    bounds: { ...one, waiters: [once, rival], interrupts: 1, crashes: 1 },
    states: 28_406,
  },
  {
    name: "one message, a contended waiter, a crash (race 16)",
    bounds: { ...one, waiters: [once], steps: 2, crashes: 1, duplicates: 1 },
    states: 15_175,
  },
  {
    name: "two messages, two waits in turn, seen in halves (race 15)",
    bounds: { ...two, waiters: [again], handlers: 3, split: true },
    states: 13_101,
  },
  {
    name: "two messages, one wait, seen in halves, a crash",
    bounds: {
      ...two,
      publications: ["call:m1", "pub:m2"],
      waiters: [once],
      handlers: 3,
      split: true,
      crashes: 1,
    },
    states: 12_231,
  },
  {
    name: "one message, a caller who repeats it, seen in halves, two crashes",
    bounds: { ...one, waiters: [once], handlers: 3, split: true, crashes: 2, duplicates: 1 },
    states: 26_270,
  },
  {
    name: "one message for two process ids, an interrupting timer, a crash",
    bounds: { ...one, waiters: [once, stranger], interrupts: 1, crashes: 1 },
    states: 57_651,
  },
  {
    name: "one message that may start an instance, a caller who repeats it, two crashes",
    bounds: { ...one, waiters: [once], starts: true, crashes: 2, duplicates: 1, interrupts: 1 },
    states: 24_389,
  },
];
const largeWorlds: readonly World[] = [
  {
    name: "two messages, two waits in turn, comes twice",
    bounds: { ...two, waiters: [again], handlers: 3, duplicates: 1 },
    states: 68_531,
  },
  {
    name: "two messages, two waits in turn, an interrupting timer, a crash",
    bounds: {
      ...two,
      publications: ["call:m1", "pub:m2"],
      waiters: [again],
      interrupts: 1,
      crashes: 1,
    },
    states: 76_537,
  },
  {
    name: "two messages, two waits in turn, seen in halves, comes twice",
    bounds: { ...two, waiters: [again], handlers: 3, split: true, duplicates: 1 },
    states: 138_715,
  },
  {
    name: "one message, two of one process id, seen in halves, an interrupting timer",
    bounds: { ...one, waiters: [once, rival], handlers: 3, split: true, interrupts: 1 },
    states: 19_476,
  },
  {
    name: "two messages for two process ids, an interrupting timer",
    bounds: {
      ...two,
      publications: ["call:m1", "pub:m2"],
      waiters: [once, stranger],
      interrupts: 1,
    },
    states: 61_035,
  },
  {
    name: "two messages for two process ids, seen in halves, an interrupting timer, a crash",
    bounds: {
      ...two,
      publications: ["call:m1", "pub:m2"],
      waiters: [once, stranger],
      split: true,
      interrupts: 1,
      crashes: 1,
    },
    states: 1_056_114,
  },
  {
    name: "two messages that may start instances, two waits in turn, seen in halves",
    bounds: { ...two, waiters: [again], starts: true, handlers: 3, split: true },
    states: 53_797,
  },
];

describe("a mailbox, searched exhaustively (races 14 to 18)", () => {
  test.each(isLong ? [...worlds, ...largeWorlds] : worlds)(
    "delivers each message once, in order, and keeps what was not taken: $name",
    { timeout: LONG_MS },
    ({ bounds, states }) => {
      const found = exploreWhole(bounds);

      expect(found.counterexample).toBeUndefined();
      expect(found.states).toBe(states);
    },
  );

  test("reaches every situation in which a rule matters", () => {
    const places = [
      "is refused: A1 waits",
      "at first only the mailbox",
      "at first only the instance",
      "keeps m1 for A1",
      "keeps m1 for the next wait",
      "poke:A1 gives m1",
      "poke:A1 cleans the mailbox",
      "the sweep looks",
      "call:m1 parks a copy",
      "call:m1 is repeated",
      "call:m1 crashes, phase send",
      "pub:m1 crashes, phase applying",
      "sub:B1 finds A1 dead",
      "sub:B1 takes m1",
    ];

    const bounds = { ...one, waiters: [once, rival], split: true, crashes: 1, interrupts: 1 };
    const contended = { ...one, waiters: [once], steps: 1 };
    const seen = [bounds, contended].flatMap((each) => [...exploreWhole(each).labels]);

    expect(places.filter((place) => !seen.some((label) => label.includes(place)))).toEqual([]);
  });
});

describe("a mailbox with one rule left out", () => {
  const lost = /m1 is lost: A1 waits for it/;
  type Killer = Readonly<{ bounds: Bounds; problem: RegExp; steps: number }>;
  const killers: Record<Mutant, Killer> = {
    "sub without condition on the mailbox": {
      bounds: { ...one, waiters: [once] },
      problem: lost,
      steps: 9,
    },
    "append that ignores subs": { bounds: { ...one, waiters: [once] }, problem: lost, steps: 9 },
    "no fence": { bounds: { ...one, waiters: [once], split: true }, problem: lost, steps: 12 },
    "eventual read of the instance": {
      bounds: { ...one, waiters: [once] },
      problem: lost,
      steps: 11,
    },
    "no sweeper": {
      bounds: { ...one, waiters: [once], steps: 1, crashes: 1 },
      problem: /m1 is lost: kept for A1/,
      steps: 11,
    },
    "ids not remembered": {
      bounds: { ...one, publications: ["pub:m1"], waiters: [again], crashes: 1 },
      problem: /m1 is kept though taken/,
      steps: 11,
    },
    "live sub replaced": {
      bounds: { ...two, waiters: [once, rival] },
      problem: /is lost: A1 waits for it/,
      steps: 25,
    },
    "start without the mailbox": {
      bounds: { ...one, publications: ["pub:m1"], waiters: [once], starts: true, crashes: 1 },
      problem: /m1 is taken twice/,
      steps: 12,
    },
  };

  test.for(MUTANTS.map((mutant) => ({ mutant, ...killers[mutant] })))(
    "fails: $mutant, after $steps steps",
    async ({ mutant, bounds, problem, steps }, { annotate }) => {
      const { counterexample } = explore(mailbox(bounds, mutant));

      const chain = counterexample?.chain ?? [];
      await annotate([counterexample?.problem, ...chain].join("\n"), "counterexample");
      expect(counterexample?.problem).toMatch(problem);
      expect(chain.length).toBe(steps);
    },
  );

  test("needs no fence if transactions are visible as a whole and reads are strong", () => {
    const bounds = { ...one, waiters: [again], interrupts: 1, crashes: 1 };

    expect(explore(mailbox(bounds, "no fence")).counterexample).toBeUndefined();
  });
});
