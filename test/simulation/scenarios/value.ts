// Values that are too large to be rewritten by every step, and hosts of two formats side by side.
import { aFork, anEnd, aStart, aTask } from "../../support/graph-builder.ts";
import { canceller, starter } from "../actors/callers.ts";
import { done } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Handler, Scenario } from "./scenario.ts";

/** A text of this length that identifies its writer. */
const writes = (name: string, length: number): Handler => ({
  outcome: ({ element }) => done({ [name]: `${element} `.repeat(length).slice(0, length) }),
});

const definition = graph(
  "p",
  [
    aStart(),
    aTask("draft"),
    aFork("fork"),
    aTask("left"),
    aTask("right"),
    aFork("join"),
    aTask("shorten"),
    anEnd(),
  ],
  ["start -> draft -> fork -> left -> join -> shorten -> end", "fork -> right -> join"],
);

/** Of these, `report` is a blob. */
const handlers = {
  draft: writes("text", 600),
  left: writes("notes", 700),
  right: writes("report", 900),
  shorten: writes("text", 20),
};

export const VALUE_SCENARIOS: readonly Scenario[] = [
  {
    name: "values",
    definitions: [definition],
    handlers,
    callers: () => [starter("p", "one")],
    settings: { wholeBytes: 300, blobBytes: 800 },
    confluent: true,
  },
  {
    name: "values-cut-short",
    definitions: [definition],
    handlers,
    callers: () => [starter("p", "one"), canceller("one", 5)],
    settings: { wholeBytes: 300, blobBytes: 800 },
  },
  {
    name: "two-formats",
    definitions: [definition],
    handlers,
    callers: () => [starter("p", "one"), starter("p", "two")],
    hasOlderHost: true,
    confluent: true,
  },
];
