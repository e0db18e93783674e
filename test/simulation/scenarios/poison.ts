// Messages of every kind are redelivered because a host crashed, and are set aside after too many
// deliveries; a caller resolves the incidents, and everything continues from there.
import { aFork, anEnd, aStart, aTask, aTimer } from "../../support/graph-builder.ts";
import { resolver, starter } from "../actors/callers.ts";
import { does } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Scenario } from "./scenario.ts";

/** So many that their outcomes are parked. */
const BRANCHES = ["a", "b", "c", "d", "e"] as const;

export const POISON_SCENARIOS: readonly Scenario[] = [
  {
    name: "set-aside",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aFork("fork"),
          aTimer("pause", { duration: "PT10S" }),
          aTask("after"),
          ...BRANCHES.map((id) => aTask(id)),
          aFork("join"),
          anEnd(),
        ],
        [
          "start -> fork -> pause -> after -> join -> end",
          ...BRANCHES.map((id) => `fork -> ${id} -> join`),
        ],
      ),
    ],
    handlers: Object.fromEntries(["after", ...BRANCHES].map((id) => [id, does(id)])),
    callers: () => [starter("p", "one"), resolver("one", { retries: 3 })],
    troubles: ["crash", "redeliver"],
    announces: true,
    maxReceives: 1,
    setsAside: true,
  },
];
