// Multi-instance activities with more tasks than have individual tickets, sent in pages of a few.
import { aBoundaryTimer, aLoop, anEnd, aStart, aTask } from "../../support/graph-builder.ts";
import { resolver, starter } from "../actors/callers.ts";
import { does, done } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Handler, Scenario } from "./scenario.ts";

const loop = aLoop({
  over: "=for n in 1..12 return n",
  gathers: "=result",
  preset: "result",
});

const looping = graph(
  "p",
  [aStart(), aTask("each", { loop }), aTask("after"), anEnd()],
  ["start -> each -> after -> end"],
);

const interrupted = graph(
  "p",
  [
    aStart(),
    aTask("each", { loop }),
    aBoundaryTimer("late", { on: "each", duration: "PT10S" }),
    aTask("after"),
    aTask("instead"),
    anEnd(),
    anEnd("end-late"),
  ],
  ["start -> each -> after -> end", "late -> instead -> end-late"],
);

/** Returns ten times its entry; some fail before. */
const tenfold = (failures = 0, takesMs = 20): Handler => ({
  takesMs,
  outcome: ({ attempt }, { item }) =>
    attempt <= failures && item === 5
      ? { kind: "failed", message: `attempt ${attempt} broke` }
      : done({ result: Number(item) * 10 }),
});

const settings = { membersPerPage: 5 };

export const BATCH_SCENARIOS: readonly Scenario[] = [
  {
    name: "batch",
    definitions: [looping],
    handlers: { each: tenfold(), after: does("after") },
    callers: () => [starter("p", "one")],
    settings,
    confluent: true,
  },
  {
    name: "batch-retried",
    definitions: [looping],
    handlers: { each: tenfold(2), after: does("after") },
    callers: () => [starter("p", "one")],
    settings,
    confluent: true,
  },
  {
    name: "batch-stopped",
    definitions: [looping],
    handlers: { each: tenfold(3), after: does("after") },
    callers: () => [starter("p", "one"), resolver("one", { retries: 5 })],
    settings,
  },
  {
    name: "batch-handed-back",
    definitions: [looping],
    handlers: { each: tenfold(0, 30_000), after: does("after") },
    releases: [
      { atMs: 0, runs: ["each", "after"] },
      { atMs: 10_000, runs: ["after"] },
      { atMs: 200_000, runs: ["each", "after"] },
    ],
    callers: () => [starter("p", "one")],
    settings,
    // It is never given up: if little else happens than crashes, a task may need many attempts.
    troubles: ["crash"],
    confluent: true,
  },
  {
    name: "batch-interrupted",
    definitions: [interrupted],
    handlers: { each: tenfold(0, 3_000), after: does("after"), instead: does("instead") },
    callers: () => [starter("p", "one")],
    settings,
  },
];
