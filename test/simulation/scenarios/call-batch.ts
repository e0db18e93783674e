// Multi-instance calls with more items than have individual tickets: started and cancelled in pages
// of a few, notified once each, and no child outlives the loop. Most children only end, so that a
// fault at every port call can be tried.
import type { Compiled } from "../../../lib/definition/definition.ts";
import type { Loop } from "../../../lib/definition/graph.ts";
import {
  aBoundaryError,
  aBoundaryTimer,
  aCall,
  aChoice,
  aLoop,
  aMessageCatch,
  anEnd,
  anErrorEnd,
  aStart,
  aTask,
  type Piece,
} from "../../support/graph-builder.ts";
import { canceller, mustStart, resolver, start, starter } from "../actors/callers.ts";
import { does } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Caller, Scenario } from "./scenario.ts";

const OVER = { over: "=for n in 1..11 return n", gathers: "=item" };

/** `p` calls `child` for each of eleven entries, and runs a task afterwards. */
function looping(loop = aLoop(OVER), ...border: readonly Piece[]): Compiled {
  return calling("child", loop, border);
}

function calling(process: string, loop: Loop, border: readonly Piece[]): Compiled {
  const ids = border.flatMap(({ nodes }) => nodes.map(({ id }) => id));
  const instead = ids.length === 0 ? [] : [aTask("mend"), anEnd("end2")];
  return graph(
    "p",
    [
      aStart(),
      aCall("call", { process, passesAll: false, takesAll: false, loop }),
      ...border,
      aTask("after"),
      anEnd(),
      ...instead,
    ],
    [
      "start -> call -> after -> end",
      ...ids.map((id) => `${id} -> mend`),
      ...(ids.length === 0 ? [] : ["mend -> end2"]),
    ],
  );
}

const child = (...pieces: readonly Piece[]): Compiled => {
  const ids = pieces.flatMap(({ nodes }) => nodes.map(({ id }) => id));
  const last = ids.some((id) => id === "bad") ? [] : [anEnd()];
  const path = ["start", ...ids, ...(last.length > 0 ? ["end"] : [])].join(" -> ");
  return graph("child", [aStart(), ...pieces, ...last], [path]);
};

const quick = child();
const working = child(aTask("work"));
const waiting = child(aMessageCatch("wait", "never"));
/** The first three end, the others would wait for ever. */
const threeEnd = graph(
  "child",
  [aStart(), aChoice("which", "which -> wait"), aMessageCatch("wait", "never"), anEnd()],
  ["start -> which", "which -> end if item <= 3", "which -> wait -> end"],
);

const handlers = { work: does("work"), after: does("after"), mend: does("mend") };
const settings = { membersPerPage: 4 };

export const CALL_BATCH_SCENARIOS: readonly Scenario[] = [
  {
    name: "call-batch",
    definitions: [looping(), quick],
    handlers,
    callers: () => [starter("p", "one")],
    settings,
    confluent: true,
  },
  {
    name: "call-batch-working",
    definitions: [looping(), working],
    handlers,
    callers: () => [starter("p", "one")],
    settings,
    confluent: true,
  },
  {
    name: "call-batch-cancelled",
    definitions: [looping(), waiting],
    handlers,
    callers: () => [starter("p", "one"), onceStarted(canceller("one", 5_000))],
    settings,
  },
  {
    name: "call-batch-cancelled-early",
    definitions: [looping(), working],
    handlers,
    callers: () => [starter("p", "one"), canceller("one", 0)],
    settings,
  },
  {
    name: "call-batch-cancelled-midway",
    definitions: [looping(), waiting],
    handlers,
    callers: () => [starter("p", "one"), onceStarted(canceller("one", 0))],
    settings,
  },
  {
    name: "call-batch-late",
    definitions: [
      looping(aLoop(OVER), aBoundaryTimer("late", { on: "call", duration: "PT10S" })),
      waiting,
    ],
    handlers,
    callers: () => [starter("p", "one")],
    settings,
  },
  {
    name: "call-batch-failed",
    definitions: [
      looping(aLoop(OVER), aBoundaryError("caught", { on: "call", code: "BAD" })),
      child(anErrorEnd("bad", "BAD")),
    ],
    handlers,
    callers: () => [starter("p", "one")],
    settings,
  },
  {
    name: "call-batch-enough",
    definitions: [looping(aLoop({ ...OVER, until: "=numberOfCompletedInstances >= 3" })), threeEnd],
    handlers,
    callers: () => [starter("p", "one")],
    settings,
  },
  {
    name: "call-batch-refused",
    definitions: [calling("=which", aLoop(OVER), []), quick],
    handlers,
    callers: () => [
      {
        name: "starter",
        calls: [start("p", { instanceId: "one", variables: { which: "nothing" } }, mustStart)],
      },
      resolver("one", { retries: 1, variables: { which: "child" } }),
    ],
    settings,
  },
  {
    name: "call-batch-detached",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aCall("call", { process: "child", detached: true, loop: aLoop(OVER) }),
          aTask("after"),
          anEnd(),
        ],
        ["start -> call -> after -> end"],
      ),
      quick,
    ],
    handlers,
    callers: () => [starter("p", "one")],
    settings,
  },
];

/** Repeats until there is something to cancel. */
function onceStarted({ name, calls }: Caller): Caller {
  return {
    name,
    calls: calls.map((call) => ({
      ...call,
      make: async (at) => (at.committedEntries("one") > 0 ? call.make(at) : "again later"),
    })),
  };
}
