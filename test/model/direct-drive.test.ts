import { describe, expect, test } from "vitest";
import {
  type Bounds,
  CHAIN,
  directDrive,
  FORK,
  FORK_AND_ON,
  type Graph,
  MUTANTS,
  type Mutant,
  owedByNobody,
} from "./direct-drive.ts";
import { type Exploration, explore } from "./explore.ts";

// FERMATA_LONG=1 searches the larger worlds too: about a minute, and 1.5 GB of memory.
const isLong = process.env.FERMATA_LONG === "1";
const LONG_MS = 600_000;

/** Everything that is claimed of the protocol, the stronger claim included. */
function exploreWhole(graph: Graph, bounds: Bounds): Exploration {
  const model = directDrive(graph, bounds);
  return explore({ ...model, unsafe: (state) => model.unsafe(state) ?? owedByNobody(state) });
}

// The counts say that the world did not shrink unnoticed: a change of the model changes them.
const worlds = [
  { name: "a chain", graph: CHAIN, handlers: 2, deliveries: 4, crashes: 2, states: 23_005 },
  { name: "a fork", graph: FORK, handlers: 2, deliveries: 4, crashes: 1, states: 29_814 },
  {
    name: "a longer fork",
    graph: FORK_AND_ON,
    handlers: 2,
    deliveries: 3,
    crashes: 1,
    states: 11_472,
  },
  {
    name: "a longer fork",
    graph: FORK_AND_ON,
    handlers: 2,
    deliveries: 4,
    crashes: 0,
    states: 19_632,
  },
];
const largeWorlds = [
  { name: "a chain", graph: CHAIN, handlers: 2, deliveries: 6, crashes: 2, states: 286_179 },
  { name: "a chain", graph: CHAIN, handlers: 3, deliveries: 5, crashes: 2, states: 1_136_842 },
  { name: "a fork", graph: FORK, handlers: 2, deliveries: 6, crashes: 2, states: 733_172 },
  {
    name: "a longer fork",
    graph: FORK_AND_ON,
    handlers: 2,
    deliveries: 5,
    crashes: 1,
    states: 386_372,
  },
];

describe("direct drive, searched exhaustively", () => {
  test.each(isLong ? [...worlds, ...largeWorlds] : worlds)(
    "loses nothing and consumes nothing twice: $name, $handlers handlers, $deliveries deliveries, $crashes crashes",
    { timeout: LONG_MS },
    ({ graph, states, ...bounds }) => {
      const found = exploreWhole(graph, bounds);

      expect(found.counterexample).toBeUndefined();
      expect(found.states).toBe(states);
    },
  );

  test("reaches every situation in which a rule matters", () => {
    const places = [
      "gets k1 again",
      "gets park:k2",
      "crashes while reading",
      "crashes while deciding",
      "crashes while dispatching",
      "crashes while redelivered",
      "runs k2 in place",
      "runs k3 in place",
      "takes over k2",
      "cannot take over, looks again",
      "leaves k1 for later",
      "finds k2 under another, parks it and stops",
      "looks again k2 deciding",
      "parks k2",
    ];

    const { labels } = exploreWhole(CHAIN, { handlers: 2, deliveries: 4, crashes: 1 });

    const seen = [...labels];
    expect(places.filter((place) => !seen.some((label) => label.includes(place)))).toEqual([]);
  });
});

describe("direct drive with one rule left out", () => {
  const small = { handlers: 2, deliveries: 3, crashes: 1 };
  // In a chain only take-overs conflict with a parked fact, in a fork the sibling does.
  const killers: Record<Mutant, Readonly<{ graph: Graph; bounds: Bounds }>> = {
    "no by": { graph: CHAIN, bounds: small },
    "by is the predecessor": { graph: CHAIN, bounds: small },
    "no take-over": { graph: CHAIN, bounds: small },
    "driver ignores own": { graph: CHAIN, bounds: small },
    "redelivery continues in place": { graph: CHAIN, bounds: small },
    "parked fact is parked again": {
      graph: FORK_AND_ON,
      bounds: { handlers: 2, deliveries: 4, crashes: 0 },
    },
    "put without condition": { graph: CHAIN, bounds: small },
  };

  test.for(MUTANTS)("fails: %s", async (mutant, { annotate }) => {
    const { graph, bounds } = killers[mutant];

    const { labels, counterexample } = explore(directDrive(graph, bounds, mutant));

    const chain = counterexample?.chain ?? [];
    await annotate([counterexample?.problem, ...chain].join("\n"), "counterexample");
    expect([...labels].some((label) => label.includes(`[${mutant}]`))).toBe(true);
    expect(counterexample?.problem).toMatch(/is lost|consumed twice/);
    expect(chain.some((label) => label.includes(`[${mutant}]`))).toBe(true);
  });

  test.each(MUTANTS.filter((mutant) => mutant !== "put without condition"))(
    "breaks the stronger claim: %s",
    (mutant) => {
      const { graph, bounds } = killers[mutant];

      const model = directDrive(graph, bounds, mutant);
      const { counterexample } = explore({ ...model, unsafe: owedByNobody });

      expect(counterexample?.problem).toMatch(/is owed without a message/);
    },
  );

  if (isLong) {
    test("fails in a chain too: parked fact is parked again", { timeout: LONG_MS }, () => {
      const bounds = { handlers: 2, deliveries: 6, crashes: 2 };

      const { counterexample } = explore(directDrive(CHAIN, bounds, "parked fact is parked again"));

      expect(counterexample?.problem).toMatch(/k2 is lost/);
    });
  }
});
