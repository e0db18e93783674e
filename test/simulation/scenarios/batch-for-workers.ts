// Batches whose items workers run, handlers that are added and removed meanwhile, and exclusive
// items.
import { aLoop, anEnd, aStart, aTask } from "../../support/graph-builder.ts";
import { resolver, starter } from "../actors/callers.ts";
import { newCrew, worker } from "../actors/outside-workers.ts";
import { does, done } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Caller, Handler, Scenario } from "./scenario.ts";

const MEMBERS = 11;

const loop = aLoop({
  over: `=for n in 1..${MEMBERS} return n`,
  gathers: "=charged",
  preset: "charged",
});

const looping = graph(
  "p",
  [aStart(), aTask("charge", { loop }), aTask("after"), anEnd()],
  ["start -> charge -> after -> end"],
);

const settings = { membersPerPage: 5 };
const OTHERS = ["after"];
const ALL = ["after", "charge"];
const ids = ["one"];

/** Does what a worker would have done; one entry fails as often as specified. */
const charges = (failures: number, how: Partial<Handler> = {}): Handler => ({
  takesMs: 20,
  ...how,
  outcome: ({ attempt }, { item }) =>
    attempt <= failures && item === 5
      ? { kind: "failed", message: `attempt ${attempt} broke` }
      : done({ charged: true }),
});

/** Crashed workers are not replaced, unless one continues until the end. */
const crewOf =
  (...ways: readonly Parameters<typeof worker>[1][]) =>
  (): readonly Caller[] => {
    const crew = newCrew();
    return [
      starter("p", "one"),
      ...ways.map((way) => worker(`who-${way}`, way, crew, { ids, max: 6 })),
    ];
  };

export const BATCH_FOR_WORKERS_SCENARIOS: readonly Scenario[] = [
  {
    name: "batch-for-workers",
    definitions: [looping],
    handlers: { after: does("after") },
    callers: crewOf("dies", "fails-once", "beats"),
    settings,
  },
  {
    name: "batch-adopted",
    definitions: [looping],
    handlers: { after: does("after"), charge: charges(1) },
    releases: [
      { atMs: 0, runs: OTHERS },
      { atMs: 20_000, runs: ALL, hosts: [0] },
      { atMs: 90_000, runs: ALL },
    ],
    callers: crewOf("dies", "beats"),
    settings,
  },
  {
    // Items that have failed once wait for their next attempt when their handler is removed.
    name: "batch-handler-removed",
    definitions: [looping],
    handlers: { after: does("after"), charge: charges(2, { takesMs: 15_000 }) },
    releases: [
      { atMs: 0, runs: ALL },
      { atMs: 10_000, runs: OTHERS },
      { atMs: 200_000, runs: ALL },
    ],
    callers: () => [...crewOf("beats")(), resolver("one", { retries: 5 })],
    settings,
    confluent: true,
  },
  {
    name: "batch-exclusive",
    definitions: [looping],
    handlers: {
      after: does("after"),
      charge: charges(1, { exclusive: true, takesMs: 20_000 }),
    },
    callers: () => [starter("p", "one"), resolver("one", { retries: 5 })],
    settings,
    confluent: true,
  },
];
