// Workloads about messages: before, during and after the wait, several waits, several instances.
import type { Compiled } from "../../../lib/definition/definition.ts";
import {
  aBoundaryError,
  aBoundaryMessage,
  aBoundaryTimer,
  aMessageCatch,
  anEnd,
  aScope,
  aStart,
  aTask,
  aTriggeredStart,
} from "../../support/graph-builder.ts";
import { starter } from "../actors/callers.ts";
import { sends, talker, waits } from "../actors/messaging.ts";
import { does } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Caller, Scenario } from "./scenario.ts";

const waiter = (id = "p"): Compiled =>
  graph(
    id,
    [aStart(), aMessageCatch("wait", "word", "k"), aTask("after"), anEnd()],
    ["start -> wait -> after -> end"],
  );

const key = "k";

export const MESSAGE_SCENARIOS: readonly Scenario[] = [
  single("message-early", () => [later(starter("p", "one"), 5_000), sender("m1")]),
  single("message-during", () => [starter("p", "one"), sender("m1")]),
  single("message-late", () => [
    starter("p", "one"),
    talker("sender", sends("word", "m1", { key, when: waits("message", "word", 1) })),
  ]),
  single("message-doubled", () => [
    starter("p", "one"),
    sender("m1"),
    talker("repeater", sends("word", "m1", { key }), sends("word", "m1", { key, atMs: 5_000 })),
    later(starter("p", "two"), 2_000),
  ]),
  {
    name: "message-twice",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aMessageCatch("first", "word", "k"),
          aTask("between"),
          aMessageCatch("second", "word", "k"),
          anEnd(),
        ],
        ["start -> first -> between -> second -> end"],
      ),
    ],
    handlers: { between: does("between") },
    callers: () => [
      starter("p", "one"),
      talker("sender", sends("word", "m1", { key }), sends("word", "m2", { key })),
    ],
    confluent: true,
  },
  {
    name: "message-boundary",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aTask("slow"),
          aBoundaryMessage("ping", { on: "slow", name: "word", key: "k", interrupting: false }),
          aBoundaryMessage("stop", { on: "slow", name: "enough", key: "k" }),
          aTask("note"),
          anEnd(),
          anEnd("noted"),
          anEnd("stopped"),
        ],
        ["start -> slow -> end", "ping -> note -> noted", "stop -> stopped"],
      ),
    ],
    handlers: { slow: { ...does("slow"), takesMs: 30_000 }, note: does("note") },
    callers: () => [
      starter("p", "one"),
      talker("sender", sends("word", "m1", { key }), sends("word", "m2", { key, atMs: 5_000 })),
      talker("stopper", sends("enough", "m3", { key, atMs: 30_000 })),
    ],
  },
  {
    name: "message-interrupted",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aScope(
            "waiting",
            [aStart("s"), aMessageCatch("wait", "word", "k"), anEnd("e")],
            ["s -> wait -> e"],
          ),
          aBoundaryTimer("late", { on: "waiting", duration: "PT10S" }),
          aTask("after"),
          anEnd(),
          anEnd("gone"),
        ],
        ["start -> waiting -> after -> end", "late -> gone"],
      ),
    ],
    handlers: { after: does("after") },
    callers: () => [
      starter("p", "one"),
      talker("sender", sends("word", "m1", { key, atMs: 10_000 })),
      later(starter("p", "two"), 20_000),
    ],
  },
  {
    name: "message-same-key",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aScope(
            "waiting",
            [aStart("s"), aMessageCatch("wait", "word", "k"), anEnd("e")],
            ["s -> wait -> e"],
          ),
          aBoundaryError("taken", { on: "waiting", code: "correlation-taken" }),
          anEnd(),
          anEnd("refused"),
        ],
        ["start -> waiting -> end", "taken -> refused"],
      ),
    ],
    handlers: {},
    callers: () => [
      starter("p", "one"),
      starter("p", "two"),
      talker("sender", sends("word", "m1", { key, when: waits("message", "word", 1) })),
    ],
    mayWait: true,
  },
  {
    name: "message-several",
    definitions: [waiter("p"), waiter("q")],
    handlers: { after: does("after") },
    callers: () => [
      starter("p", "one"),
      starter("q", "two"),
      talker("sender", sends("word", "m1", { key, when: waits("message", "word", 2) })),
    ],
    confluent: true,
  },
  {
    name: "message-several-during",
    definitions: [waiter("p"), waiter("q")],
    handlers: { after: does("after") },
    callers: () => [
      starter("p", "one"),
      starter("q", "two"),
      talker("sender", sends("word", "m1", { key }), sends("word", "m2", { key })),
    ],
    mayWait: true,
  },
  {
    name: "message-start",
    definitions: [beginning("d"), waiter("p")],
    handlers: { a: does("a"), after: does("after") },
    callers: () => [
      starter("p", "one"),
      talker("sender", sends("word", "m1", { key }), sends("word", "m2", { key })),
    ],
    mayWait: true,
  },
  {
    name: "message-starts",
    definitions: [beginning("d"), beginning("e")],
    handlers: { a: does("a") },
    callers: () => [
      talker("sender", sends("word", "m1", { key })),
      talker("repeater", sends("word", "m1", { key }), sends("word", "m2", { key })),
    ],
    confluent: true,
  },
];

function single(name: string, callers: Scenario["callers"]): Scenario {
  const isDoubled = name === "message-doubled";
  return {
    name,
    definitions: [waiter()],
    handlers: { after: does("after") },
    callers,
    ...(isDoubled ? { mayWait: true, mayStandStill: true } : { confluent: true }),
  };
}

const sender = (id: string): Caller => talker("sender", sends("word", id, { key }));

function later({ name, calls }: Caller, atMs: number): Caller {
  return { name, calls: calls.map((call) => ({ ...call, atMs })) };
}

function beginning(id: string): Compiled {
  const definition = graph(
    id,
    [aTriggeredStart("start"), aTask("a"), anEnd()],
    ["start -> a -> end"],
  );
  return { ...definition, startEvents: [{ element: "start", kind: "message", name: "word" }] };
}
