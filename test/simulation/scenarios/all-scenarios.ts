// The workloads: small processes, each about one rule of the step protocol, and their callers.
import fc from "fast-check";
import type { Definition } from "../../../lib/definition/definition.ts";
import { aWorkflow, race, task, timer, type Workflow } from "../../support/generator-runner.ts";
import {
  aBoundaryTimer,
  aFork,
  anEnd,
  aStart,
  aTask,
  aTimer,
} from "../../support/graph-builder.ts";
import { aRandomGraph } from "../../support/random-graph.ts";
import {
  canceller,
  completer,
  failer,
  finisher,
  historian,
  maybeTaken,
  mustBeReused,
  mustStart,
  resolver,
  start,
  starter,
} from "../actors/callers.ts";
import { does, done, flaky, unlessMended, untilVersion } from "../actors/user-code.ts";
import { ADOPT_SCENARIOS } from "./adopt.ts";
import { BATCH_SCENARIOS } from "./batch.ts";
import { BATCH_FOR_WORKERS_SCENARIOS } from "./batch-for-workers.ts";
import { CALL_SCENARIOS } from "./call.ts";
import { CALL_BATCH_SCENARIOS } from "./call-batch.ts";
import { CODE_SCENARIOS } from "./code.ts";
import { compiled, graph } from "./definitions.ts";
import { ERASE_SCENARIOS } from "./erase.ts";
import { EVENT_SCENARIOS } from "./event.ts";
import { HEAVY_SCENARIOS } from "./heavy.ts";
import { HTTP_SCENARIOS } from "./http.ts";
import { LISTING_SCENARIOS } from "./listing.ts";
import { MESSAGE_SCENARIOS } from "./message.ts";
import { OWN_QUEUE_SCENARIOS } from "./own-queue.ts";
import { POISON_SCENARIOS } from "./poison.ts";
import { REFUSED_SCENARIOS } from "./refused.ts";
import { RESTORE_SCENARIOS } from "./restore.ts";
import type { Handler, Scenario } from "./scenario.ts";
import { SHARED_TASK_SCENARIOS } from "./shared-task.ts";
import { SIGNAL_SCENARIOS } from "./signal.ts";
import { START_SCENARIOS } from "./start.ts";
import { TIMER_SCENARIOS } from "./timer.ts";
import { USER_TASK_SCENARIOS } from "./user-task.ts";
import { VALUE_SCENARIOS } from "./value.ts";
import { WORKER_SCENARIOS } from "./worker.ts";

/** Long enough that history is moved out of the instance several times. */
const LONG_NAMES = Array.from({ length: 14 }, (_, n) => `an-element-with-a-long-name-${n}`);

/** The five for which every single fault is tried. */
export const CORE: readonly Scenario[] = [
  {
    name: "task-timer",
    definitions: [
      graph(
        "p",
        [aStart(), aTask("work"), aTimer("pause", { duration: "PT10S" }), anEnd()],
        ["start -> work -> pause -> end"],
      ),
    ],
    handlers: { work: does("work") },
    callers: () => [starter("p", "one")],
    confluent: true,
  },
  {
    name: "fork-join",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aFork("fork"),
          aTask("left"),
          aTask("right"),
          aFork("join"),
          aTask("after"),
          anEnd(),
        ],
        ["start -> fork -> left -> join -> after -> end", "fork -> right -> join"],
      ),
    ],
    handlers: { left: does("left"), right: does("right"), after: does("after") },
    callers: () => [starter("p", "one")],
    confluent: true,
  },
  {
    name: "boundary",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aTask("slow"),
          aBoundaryTimer("late", { on: "slow", duration: "PT30S" }),
          aTask("mend"),
          aTask("after"),
          anEnd(),
          anEnd("end2"),
        ],
        ["start -> slow -> after -> end", "late -> mend -> end2"],
      ),
    ],
    handlers: {
      slow: { ...does("slow"), takesMs: 30_000 },
      mend: does("mend"),
      after: does("after"),
    },
    callers: () => [starter("p", "one")],
  },
  {
    name: "cancel",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aFork("fork"),
          aTimer("pause", { duration: "PT10S" }),
          aTask("after"),
          aTask("beside"),
          anEnd(),
        ],
        ["start -> fork -> pause -> after -> end", "fork -> beside -> end"],
      ),
    ],
    handlers: { after: does("after"), beside: { ...does("beside"), takesMs: 10_000 } },
    callers: () => [starter("p", "one"), canceller("one", 10_000)],
  },
  {
    name: "retry",
    definitions: [
      graph(
        "p",
        [aStart(), aTask("flaky"), aTask("later", { backoff: "PT5S" }), aTask("after"), anEnd()],
        ["start -> flaky -> later -> after -> end"],
      ),
    ],
    handlers: { flaky: flaky(2), later: flaky(1), after: does("after") },
    callers: () => [starter("p", "one")],
    confluent: true,
  },
];

/** Those about signals, messages and events; every single fault is tried for these, too. */
export const MESSAGING: readonly Scenario[] = [
  ...SIGNAL_SCENARIOS,
  ...MESSAGE_SCENARIOS,
  ...EVENT_SCENARIOS,
];

export const SCENARIOS: readonly Scenario[] = [
  ...CORE,
  {
    name: "chain",
    definitions: [
      graph("p", [aStart(), ...tasks("abcde"), anEnd()], ["start -> a -> b -> c -> d -> e -> end"]),
    ],
    handlers: handlers("abcde"),
    callers: () => [starter("p", "one"), starter("p", "two")],
    confluent: true,
  },
  driven("driven", { takesMs: 20_000 }),
  driven("isolated", { isolate: true, takesMs: 20_000 }),
  wide("wide", {}),
  wide("wide-swallowing", { swallowsDoubles: true }),
  {
    name: "long",
    definitions: [
      graph(
        "p",
        [aStart(), ...LONG_NAMES.map((id) => aTask(id, { type: "work" })), anEnd()],
        [`start -> ${LONG_NAMES.join(" -> ")} -> end`],
      ),
    ],
    handlers: {
      work: { outcome: ({ element }) => done({ seen: `${element}-${"x".repeat(60)}` }) },
    },
    callers: () => [
      {
        name: "starter",
        calls: [start("p", { instanceId: "one", variables: { text: "x".repeat(450) } }, mustStart)],
      },
      historian("one", 1),
      historian("one", 2),
    ],
    confluent: true,
  },
  {
    name: "request",
    definitions: [
      graph(
        "p",
        [aStart(), aTask("before"), aTask("approve"), aTask("after"), anEnd()],
        ["start -> before -> approve -> after -> end"],
      ),
    ],
    handlers: { before: does("before"), after: does("after") },
    callers: () => [starter("p", "one"), completer("approve")],
    announces: true,
    confluent: true,
  },
  {
    name: "request-fail",
    definitions: [
      graph(
        "p",
        [aStart(), aTask("approve", { retries: "2" }), aTask("after"), anEnd()],
        ["start -> approve -> after -> end"],
      ),
    ],
    handlers: { after: does("after") },
    callers: () => [
      starter("p", "one"),
      failer("approve", "anna"),
      failer("approve", "bert"),
      resolver("one", { retries: 1 }),
      finisher("approve", 120_000),
    ],
    announces: true,
  },
  {
    name: "incident",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aFork("fork"),
          aTask("left", { retries: "1" }),
          aTask("right", { retries: "1" }),
          aFork("join"),
          anEnd(),
        ],
        ["start -> fork -> left -> join -> end", "fork -> right -> join"],
      ),
    ],
    handlers: { left: unlessMended("left"), right: unlessMended("right") },
    callers: () => [
      starter("p", "one"),
      resolver("one", { retries: 1, variables: { mended: true } }),
    ],
    announces: true,
    confluent: true,
  },
  {
    name: "same-id",
    definitions: [
      graph("p", [aStart(), aTask("work"), anEnd()], ["start -> work -> end"]),
      graph(
        "q",
        [aStart(), aFork("fork"), aTask("work"), aTask("more"), anEnd()],
        ["start -> fork -> work -> end", "fork -> more -> end"],
      ),
    ],
    handlers: { work: does("work"), more: does("more") },
    callers: () => [
      {
        name: "anna",
        calls: [start("p", { instanceId: "one", variables: { by: "anna" } }, maybeTaken)],
      },
      {
        name: "bert",
        calls: [start("p", { instanceId: "one", variables: { by: "bert" } }, maybeTaken)],
      },
      {
        name: "carl",
        calls: [
          start("q", { instanceId: "one" }, maybeTaken),
          start("q", { instanceId: "one" }, maybeTaken),
        ],
      },
      {
        name: "dora",
        calls: [
          start("p", { variables: { n: 1 } }, mustStart, "key"),
          start("p", { variables: { n: 1 } }, mustStart, "key"),
          start("p", { variables: { n: 2 } }, mustBeReused, "key"),
        ],
      },
    ],
  },
  {
    name: "deadline",
    definitions: [
      graph(
        "p",
        [aStart(), aTimer("pause", { duration: "PT1H" }), anEnd()],
        ["start -> pause -> end"],
      ),
    ],
    handlers: {},
    callers: () => [
      { name: "starter", calls: [start("p", { instanceId: "one", deadline: "PT20S" }, mustStart)] },
    ],
    announces: true,
    confluent: true,
  },
  {
    name: "exclusive",
    definitions: [
      graph(
        "p",
        [aStart(), aTask("pay"), aTask("after"), anEnd()],
        ["start -> pay -> after -> end"],
      ),
    ],
    handlers: {
      pay: { ...does("pay"), exclusive: true, takesMs: 20_000 },
      after: does("after"),
    },
    callers: () => [starter("p", "one"), resolver("one", { retries: 1 })],
    announces: true,
  },
  program("program", function* () {
    yield task("work");
    const first = yield race({ work: task("slow"), late: timer(20_000) });
    yield task("after", { first });
    return yield timer(1_000);
  }),
  ...MESSAGING,
  ...TIMER_SCENARIOS,
  ...VALUE_SCENARIOS,
  ...USER_TASK_SCENARIOS,
  ...ERASE_SCENARIOS,
  ...ADOPT_SCENARIOS,
  ...RESTORE_SCENARIOS,
  ...WORKER_SCENARIOS,
  ...HTTP_SCENARIOS,
  ...CALL_SCENARIOS,
  ...LISTING_SCENARIOS,
  ...START_SCENARIOS,
  ...BATCH_SCENARIOS,
  ...BATCH_FOR_WORKERS_SCENARIOS,
  ...SHARED_TASK_SCENARIOS,
  ...CALL_BATCH_SCENARIOS,
  ...OWN_QUEUE_SCENARIOS,
  ...REFUSED_SCENARIOS,
  ...POISON_SCENARIOS,
  ...HEAVY_SCENARIOS,
  ...CODE_SCENARIOS,
];

/** Some random graphs loop for ever: later tasks fail, and a deadline ends the rest. */
const LAST_VERSION = 25;

/** A small definition for each seed. */
export function randomScenario(seed: number): Scenario {
  const [definition] = fc.sample(aRandomGraph, { seed, numRuns: 1 });
  if (definition === undefined) throw new Error("no graph was drawn");
  const types = typesOf(definition);
  return {
    name: "random",
    definitions: [compiled(definition)],
    handlers: Object.fromEntries(
      types.map((type, n) => [
        type,
        untilVersion(LAST_VERSION, n % 3 === 1 ? flaky(1) : does(type)),
      ]),
    ),
    callers: () => [
      {
        name: "starter",
        calls: [start(definition.id, { instanceId: "one", deadline: "PT20M" }, mustStart)],
      },
    ],
    announces: true,
    mayStandStill: true,
  };
}

function typesOf({ body }: Definition): readonly string[] {
  const nodes = body.runner === "graph" ? body.graph.nodes : [];
  return nodes.flatMap((node) => (node.kind === "task" ? [node.id] : []));
}

function program(name: string, workflow: Workflow): Scenario {
  return {
    name,
    definitions: [compiled(aWorkflow(workflow, "w").definition)],
    workflows: new Map([["w", workflow]]),
    handlers: {
      work: flaky(1),
      slow: { ...does("slow"), takesMs: 20_000 },
      after: does("after"),
    },
    callers: () => [starter("w", "one")],
  };
}

/** A chain whose driver is slow, or crashes: what owes the next task? */
function driven(name: string, how: Partial<Handler>): Scenario {
  return {
    name,
    definitions: [
      graph("p", [aStart(), ...tasks("abcd"), anEnd()], ["start -> a -> b -> c -> d -> end"]),
    ],
    handlers: Object.fromEntries([..."abcd"].map((id) => [id, { ...does(id), ...how }])),
    callers: () => ["one", "two", "three", "four"].map((id) => starter("p", id)),
    confluent: true,
    troubles: ["crash", "stall"],
  };
}

function wide(name: string, options: Partial<Scenario>): Scenario {
  const branches = [..."abcdef"];
  return {
    name,
    definitions: [
      graph(
        "p",
        [aStart(), aFork("fork"), ...tasks("abcdef"), aFork("join"), aTask("g"), anEnd()],
        ["start -> fork", ...branches.map((id) => `fork -> ${id} -> join`), "join -> g -> end"],
      ),
    ],
    handlers: handlers("abcdefg"),
    callers: () => [starter("p", "one")],
    confluent: true,
    ...options,
  };
}

function tasks(letters: string) {
  return [...letters].map((id) => aTask(id));
}

function handlers(letters: string) {
  return Object.fromEntries([...letters].map((id) => [id, does(id)]));
}
