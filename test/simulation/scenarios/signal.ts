// Workloads about signals: each is small enough that every single fault can be tried.
import type { Compiled } from "../../../lib/definition/definition.ts";
import {
  aBoundarySignal,
  aBoundaryTimer,
  aFork,
  aMessageCatch,
  anEnd,
  anEventGateway,
  aSignalCatch,
  aSignalEnd,
  aSignalThrow,
  aStart,
  aTask,
  aTimer,
  aTriggeredStart,
} from "../../support/graph-builder.ts";
import { canceller, starter } from "../actors/callers.ts";
import { deploys, sends, signals, talker, turns, waits } from "../actors/messaging.ts";
import { does } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Desk, Scenario } from "./scenario.ts";

const catcher = graph(
  "p",
  [aStart(), aSignalCatch("wait", "go"), aTask("after"), anEnd()],
  ["start -> wait -> after -> end"],
);

const again = graph(
  "p",
  [aStart(), aSignalCatch("first", "go"), aSignalCatch("second", "go"), anEnd()],
  ["start -> first -> second -> end"],
);

/** Three of one kind wait, and one of another. */
const three = waits("signal", "go", 3);

const both = ({ waiting }: Desk): boolean =>
  waiting("signal", "go") === 1 && waiting("signal", "back") === 1;

export const SIGNAL_SCENARIOS: readonly Scenario[] = [
  {
    name: "signal-waiters",
    definitions: [catcher],
    handlers: { after: does("after") },
    callers: () => [
      starter("p", "one"),
      starter("p", "two"),
      starter("p", "three"),
      talker("signaller", signals("go", "s1", { when: three })),
    ],
    confluent: true,
  },
  {
    name: "signal-crowd",
    definitions: [catcher],
    handlers: { after: does("after") },
    callers: () => [
      starter("p", "one"),
      talker("signaller", signals("go", "s1"), signals("go", "s2")),
      starter("p", "two"),
      talker("other signaller", signals("go", "t1"), signals("go", "t2")),
      starter("p", "three"),
    ],
    mayWait: true,
    troubles: ["halves", "crash"],
  },
  {
    name: "signal-echo",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aSignalCatch("wait", "go"),
          aSignalThrow("echo", "back"),
          aTimer("pause", { duration: "PT10S" }),
          aTask("after"),
          anEnd(),
        ],
        ["start -> wait -> echo -> pause -> after -> end"],
      ),
      graph("q", [aStart(), aSignalCatch("wait", "back"), anEnd()], ["start -> wait -> end"]),
    ],
    handlers: { after: does("after") },
    callers: () => [
      starter("p", "one"),
      starter("q", "two"),
      talker("signaller", signals("go", "s1", { when: both }), signals("go", "s2")),
    ],
  },
  {
    name: "signal-loop",
    definitions: [again],
    handlers: {},
    callers: () => [
      starter("p", "one"),
      starter("p", "two"),
      talker("signaller", signals("go", "s1"), signals("go", "s2"), signals("go", "s3")),
      talker("other signaller", signals("go", "t1"), signals("go", "t2")),
    ],
    mayWait: true,
  },
  {
    name: "signal-multi-shot",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aTask("slow"),
          aBoundarySignal("ping", { on: "slow", name: "go", interrupting: false }),
          aTask("note"),
          anEnd(),
          anEnd("noted"),
        ],
        ["start -> slow -> end", "ping -> note -> noted"],
      ),
    ],
    handlers: { slow: { ...does("slow"), takesMs: 30_000 }, note: does("note") },
    callers: () => [
      starter("p", "one"),
      talker("signaller", signals("go", "s1"), signals("go", "s2", { atMs: 5_000 })),
      talker("other signaller", signals("go", "t1", { atMs: 5_000 })),
    ],
  },
  {
    name: "signal-boundary",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aTask("slow"),
          aBoundarySignal("stop", { on: "slow", name: "go" }),
          aBoundaryTimer("late", { on: "slow", duration: "PT30S" }),
          aTask("mend"),
          aTask("after"),
          anEnd(),
          anEnd("stopped"),
          anEnd("delayed"),
        ],
        ["start -> slow -> after -> end", "stop -> mend -> stopped", "late -> delayed"],
      ),
    ],
    handlers: {
      slow: { ...does("slow"), takesMs: 30_000 },
      mend: does("mend"),
      after: does("after"),
    },
    callers: () => [
      starter("p", "one"),
      starter("p", "two"),
      talker("signaller", signals("go", "s1", { atMs: 30_000 })),
    ],
  },
  {
    name: "signal-cancel",
    definitions: [catcher],
    handlers: { after: does("after") },
    callers: () => [
      starter("p", "one"),
      starter("p", "two"),
      canceller("one", 5_000),
      talker("signaller", signals("go", "s1", { atMs: 5_000 })),
    ],
    mayWait: true,
  },
  {
    name: "race",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          anEventGateway("first"),
          aTimer("late", { duration: "PT10S" }),
          aSignalCatch("heard", "go"),
          aMessageCatch("told", "word", "k"),
          aTask("after"),
          anEnd(),
        ],
        [
          "start -> first -> late -> after -> end",
          "first -> heard -> after",
          "first -> told -> after",
        ],
      ),
    ],
    handlers: { after: does("after") },
    callers: () => [
      starter("p", "one"),
      talker("signaller", signals("go", "s1", { atMs: 10_000 })),
      talker("sender", sends("word", "m1", { key: "k", atMs: 10_000, timeToLive: "PT5S" })),
    ],
  },
  {
    name: "self-signal",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aFork("fork"),
          aSignalThrow("shout", "go"),
          aSignalCatch("own", "go"),
          aSignalCatch("beside", "go"),
          aTask("after"),
          anEnd(),
          aSignalEnd("over", "done"),
        ],
        ["start -> fork -> shout -> own -> end", "fork -> beside -> after -> over"],
      ),
      graph("q", [aStart(), aSignalCatch("wait", "done"), anEnd()], ["start -> wait -> end"]),
    ],
    handlers: { after: does("after") },
    callers: () => {
      let isAwaited = false;
      return [
        starter("q", "listener"),
        talker("starter", {
          name: "start p",
          make: async ({ engine, waiting, brings }) => {
            isAwaited ||= waiting("signal", "done") === 1;
            if (!isAwaited) return "again later";
            brings("one", { kind: "started", input: { variables: {} } });
            await engine.start("p", { instanceId: "one" });
            return { kind: "started", instanceId: "one" };
          },
        }),
        talker("signaller", signals("go", "s1", { when: isLeftAlone })),
      ];
    },
    confluent: true,
  },
  {
    name: "signal-start",
    definitions: [starting("start", "a"), catcher],
    later: [starting("start2", "b")],
    handlers: { a: does("a"), b: does("b"), after: does("after") },
    callers: () => [
      starter("p", "one"),
      talker("signaller", signals("go", "s1"), signals("go", "s2"), signals("go", "s3")),
      talker("deployer", deploys(starting("start2", "b"))),
      talker("switcher", turns("d", "disable"), turns("d", "enable")),
    ],
    mayWait: true,
  },
  {
    name: "signal-start-undeployed",
    definitions: [starting("start", "a")],
    handlers: { a: does("a") },
    callers: () => [
      talker("signaller", signals("go", "s1"), signals("go", "s2")),
      talker("undeployer", turns("d", "undeploy")),
    ],
  },
  {
    name: "signal-start-only",
    definitions: [starting("start", "a")],
    handlers: { a: does("a") },
    callers: () => [talker("signaller", signals("go", "s1"), signals("go", "s2"))],
    confluent: true,
  },
];

/** The parallel branch has caught what the other threw; the thrower still waits. */
function isLeftAlone({ waiting, committedEntries }: Desk): boolean {
  return committedEntries("one") > 0 && waiting("signal", "go") === 1;
}

function starting(element: string, task: string): Compiled {
  const definition = graph(
    "d",
    [aTriggeredStart(element), aTask(task), anEnd()],
    [`${element} -> ${task} -> end`],
  );
  return { ...definition, startEvents: [{ element, kind: "signal", name: "go" }] };
}
