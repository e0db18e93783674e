// Workloads with expressions so expensive that one commit takes a single outcome, and leaves the others
// to the next one.
import { aFork, aMessageCatch, anEnd, aStart, aTask } from "../../support/graph-builder.ts";
import { starter } from "../actors/callers.ts";
import { sends, talker } from "../actors/messaging.ts";
import { does } from "../actors/user-code.ts";
import { HEAVY } from "../world/host.ts";
import { graph } from "./definitions.ts";
import type { Scenario } from "./scenario.ts";

/** So many that their outcomes are parked, and taken together. */
const BRANCHES = ["a", "b", "c", "d", "e"] as const;

export const HEAVY_SCENARIOS: readonly Scenario[] = [
  {
    name: "heavy-outcomes",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aFork("fork"),
          ...BRANCHES.map((id) => aTask(id, { outputs: { [id]: `=${HEAVY}` } })),
          aFork("join"),
          anEnd(),
        ],
        ["start -> fork", "join -> end", ...BRANCHES.map((id) => `fork -> ${id} -> join`)],
      ),
    ],
    handlers: Object.fromEntries(BRANCHES.map((id) => [id, does(id)])),
    callers: () => [starter("p", "one")],
    announces: true,
  },
  // No mutant breaks the second look of this wait: the due index would find wait and message too.
  {
    name: "heavy-before-a-message",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aTask("work", { outputs: { worked: `=${HEAVY}` } }),
          aMessageCatch("wait", "word", "k"),
          aTask("after"),
          anEnd(),
        ],
        ["start -> work -> wait -> after -> end"],
      ),
    ],
    handlers: { work: { ...does("work"), takesMs: 3_000 }, after: does("after") },
    callers: () => [starter("p", "one"), talker("sender", sends("word", "m1", { key: "k" }))],
  },
];
