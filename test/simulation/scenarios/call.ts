// Processes that call others: notifications, cancels, and that each child is started once.

import type { Compiled } from "../../../lib/definition/definition.ts";
import { EngineError } from "../../../lib/ports/engine-error.ts";
import {
  aBoundaryError,
  aBoundaryTimer,
  aCall,
  aFork,
  aMessageCatch,
  anEnd,
  aStart,
  aTask,
  aTimer,
  type Piece,
} from "../../support/graph-builder.ts";
import { canceller, mustStart, resolver, start, starter } from "../actors/callers.ts";
import { does } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Call, Caller, Scenario } from "./scenario.ts";

/** A process of these, one after the other. */
function line(id: string, pieces: readonly Piece[]): Compiled {
  const ids = pieces.flatMap(({ nodes }) => nodes.map((node) => node.id));
  return graph(id, [aStart(), ...pieces, anEnd()], [`start -> ${ids.join(" -> ")} -> end`]);
}

/** `p` calls `child`, and runs a task afterwards. */
const caller = (...more: readonly Piece[]): Compiled => {
  const ids = more.flatMap(({ nodes }) => nodes.map((node) => node.id));
  return graph(
    "p",
    [
      aStart(),
      aCall("call", { process: "child" }),
      ...more,
      aTask("after"),
      aTask("mend"),
      anEnd(),
      anEnd("end2"),
    ],
    ["start -> call -> after -> end", ...ids.map((id) => `${id} -> mend`), "mend -> end2"],
  );
};

const handlers = { work: does("work"), after: does("after"), mend: does("mend") };

const child = line("child", [aTask("work")]);
const slow = { ...handlers, work: { ...does("work"), takesMs: 10_000 } };

export const CALL_SCENARIOS: readonly Scenario[] = [
  {
    name: "call",
    definitions: [caller(), child],
    handlers,
    callers: () => [starter("p", "one")],
    announces: true,
    confluent: true,
  },
  {
    name: "call-error",
    definitions: [caller(aBoundaryError("caught", { on: "call", code: "BAD" })), child],
    handlers: {
      ...handlers,
      work: {
        outcome: () => ({ kind: "failed", code: "BAD", message: "no", variables: { why: "rain" } }),
      },
    },
    callers: () => [starter("p", "one")],
    confluent: true,
  },
  {
    name: "call-cancel",
    definitions: [caller(), child],
    handlers: slow,
    callers: () => [starter("p", "one"), canceller("one", 10_000)],
  },
  {
    name: "call-cancel-early",
    definitions: [caller(), child],
    handlers,
    callers: () => [starter("p", "one"), canceller("one", 0)],
  },
  {
    name: "call-cancel-waiting",
    definitions: [caller(), line("child", [aMessageCatch("wait", "never")])],
    handlers,
    callers: () => [starter("p", "one"), onceStarted(canceller("one", 5_000))],
  },
  {
    name: "call-boundary",
    definitions: [
      caller(aBoundaryTimer("late", { on: "call", duration: "PT10S" })),
      line("child", [aTimer("pause", { duration: "PT10S" }), aTask("work")]),
    ],
    handlers,
    callers: () => [starter("p", "one")],
  },
  {
    name: "call-chain",
    definitions: [
      caller(),
      line("child", [aCall("inner", { process: "grandchild" })]),
      line("grandchild", [aTask("work")]),
    ],
    handlers,
    callers: () => [starter("p", "one")],
    confluent: true,
  },
  {
    name: "call-chain-cancel",
    definitions: [
      caller(),
      line("child", [aCall("inner", { process: "grandchild" })]),
      line("grandchild", [aTask("work")]),
    ],
    handlers: slow,
    callers: () => [starter("p", "one"), canceller("one", 5_000)],
  },
  {
    name: "call-detached",
    definitions: [
      line("p", [
        aCall("call", {
          process: "child",
          detached: true,
          outputs: { begun: "=childInstanceId" },
        }),
        aTask("after"),
      ]),
      child,
    ],
    handlers,
    callers: () => [starter("p", "one")],
  },
  {
    name: "call-many",
    definitions: [many(6), child],
    handlers,
    callers: () => [starter("p", "one")],
    confluent: true,
  },
  {
    // Children are erased as soon as they have ended: not before their parent has their result.
    name: "call-erased",
    definitions: [many(6), child],
    handlers,
    callers: () => [starter("p", "one"), eraser("child", "one")],
    troubles: ["crash", "stall", "redeliver", "slow"],
  },
  {
    name: "call-sequence",
    definitions: [
      line(
        "p",
        [1, 2, 3].map((n) => aCall(`call${n}`, { process: "child" })),
      ),
      child,
    ],
    handlers,
    callers: () => [starter("p", "one")],
    confluent: true,
  },
  {
    name: "call-refused",
    definitions: [
      line("p", [aCall("call", { process: "=which" }), aTask("after")]),
      line("child", [aTask("work")]),
    ],
    handlers,
    callers: () => [
      {
        name: "starter",
        calls: [start("p", { instanceId: "one", variables: { which: "nothing" } }, mustStart)],
      },
      resolver("one", { retries: 1, variables: { which: "child" } }),
    ],
    confluent: true,
  },
];

/** Calls so many at once that their ends are parked and taken together. */
function many(count: number): Compiled {
  const ids = Array.from({ length: count }, (_, n) => `call${n}`);
  return graph(
    "p",
    [
      aStart(),
      aFork("fork"),
      ...ids.map((id) => aCall(id, { process: "child" })),
      aFork("join"),
      aTask("after"),
      anEnd(),
    ],
    ["start -> fork", ...ids.map((id) => `fork -> ${id} -> join`), "join -> after -> end"],
  );
}

/** Erases the ended instances of a definition, repeatedly until another instance has ended. */
function eraser(definition: string, instanceId: string): Caller {
  const known = new Set<string>();
  const make: Call["make"] = async ({ engine, committedEntries }) => {
    if (committedEntries(instanceId) === 0) return "again later";
    const { items } = await engine.list({ definition }, { limit: 50 });
    for (const item of items) known.add(item.instanceId);
    for (const id of known) await unlessRefused(() => engine.erase(id));
    const { status } = await engine.get(instanceId);
    return status === "running" || status === "suspended" ? "again later" : { kind: "done" };
  };
  const erasures = Array.from(
    { length: 12 },
    (_, n): Call => ({ name: `erase ${n}`, make: once(make) }),
  );
  return { name: "eraser", calls: [...erasures, { name: "erase", make }] };
}

/** It has not ended yet, or its caller has not taken its result, or it is erased already. */
async function unlessRefused(erase: () => Promise<void>): Promise<void> {
  try {
    await erase();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
}

/** Without waiting for anything. */
const once =
  (make: Call["make"]): Call["make"] =>
  async (desk) => {
    await make(desk);
    return { kind: "done" };
  };

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
