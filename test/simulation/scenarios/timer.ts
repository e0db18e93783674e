// Timers on every route: by the queue, by a schedule, by the wheel; near, far, and years away.
import {
  aBoundaryTimer,
  aFork,
  anEnd,
  aStart,
  aTask,
  aTimer,
} from "../../support/graph-builder.ts";
import { canceller, finisher, resolver, starter } from "../actors/callers.ts";
import type { Trouble } from "../actors/swarm.ts";
import { does } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Caller, Scenario } from "./scenario.ts";

const MINUTE_MS = 60_000;

/** Routes are lost, duplicated and late, and clocks differ; there are no other faults. */
const ON_THE_ROAD: readonly Trouble[] = ["timers", "jump"];

/** Just within the queue's delay, just beyond it, and far beyond. */
const NEAR_AND_FAR = ["PT10S", "PT14M59S", "PT15M1S", "PT2H", "P400D"];

export const TIMER_SCENARIOS: readonly Scenario[] = [
  roads("timer-routes", {}),
  roads("timer-wheel", { timers: "wheel" }),
  crowd("timer-crowd", {}),
  crowd("timer-crowd-wheel", { timers: "wheel" }),
  roads("timer-lost", { losesSchedules: true }),
  {
    // Of several timers only the earliest is armed; a cancel comes between them.
    name: "timer-earliest",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aFork("fork"),
          aTimer("late", { duration: "PT50M" }),
          aTimer("first", { duration: "PT20M" }),
          aTimer("soon", { duration: "PT40S" }),
          aTimer("second", { duration: "PT20M5S" }),
          aTask("after"),
          anEnd(),
        ],
        [
          "start -> fork -> late -> end",
          "fork -> first -> after -> end",
          "fork -> soon -> end",
          "fork -> second -> end",
        ],
      ),
    ],
    handlers: { after: does("after") },
    callers: () => [starter("p", "one"), starter("p", "two"), canceller("two", 30 * MINUTE_MS)],
    troubles: ON_THE_ROAD,
    punctual: true,
  },
  {
    // A timer message may come again while the task that it has led to is queued or runs.
    name: "timer-together",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aFork("fork"),
          ...["a", "b", "c"].flatMap((id) => [
            aTimer(`pause-${id}`, { duration: "PT1S" }),
            aTask(id),
          ]),
          anEnd(),
        ],
        ["start -> fork", ...["a", "b", "c"].map((id) => `fork -> pause-${id} -> ${id} -> end`)],
      ),
    ],
    handlers: { a: does("a"), b: does("b"), c: does("c") },
    callers: () => [starter("p", "one"), starter("p", "two")],
    troubles: ["timers-twice", "crash"],
    runsOnceInLife: true,
    knowsOwners: true,
  },
  {
    // Each due instant follows from the previous one, however late that one fired.
    name: "timer-cycle",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aTask("approve"),
          aBoundaryTimer("remind", { on: "approve", interrupting: false, cycle: "R4/PT20M" }),
          aTask("nudge"),
          anEnd(),
          anEnd("end2"),
        ],
        ["start -> approve -> end", "remind -> nudge -> end2"],
      ),
    ],
    handlers: { nudge: does("nudge") },
    callers: () => [starter("p", "one"), finisher("approve", 100 * MINUTE_MS)],
    troubles: ON_THE_ROAD,
    punctual: true,
    cycle: { element: "remind", everyMs: 20 * MINUTE_MS },
  },
  {
    // The definition is undeployed while its timers run: started instances continue.
    name: "timer-undeployed",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aTask("approve"),
          aBoundaryTimer("late", { on: "approve", duration: "PT1H" }),
          aTimer("pause", { duration: "PT30S" }),
          anEnd(),
          anEnd("end2"),
        ],
        ["start -> approve -> end", "late -> pause -> end2"],
      ),
    ],
    handlers: {},
    callers: () => [starter("p", "one"), undeployer("p", "one")],
    troubles: ON_THE_ROAD,
    punctual: true,
  },
  {
    // Boundary timers race with completions, while the actors that arm them crash, stall and are
    // redelivered.
    name: "timer-rough",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aTask("approve"),
          aBoundaryTimer("late", { on: "approve", duration: "PT1H" }),
          aTask("mend"),
          aTimer("pause", { duration: "PT20M" }),
          anEnd(),
          anEnd("end2"),
        ],
        ["start -> approve -> pause -> end", "late -> mend -> end2"],
      ),
    ],
    handlers: { mend: does("mend") },
    callers: () => [starter("p", "one"), finisher("approve", 60 * MINUTE_MS)],
  },
  {
    // Deliveries are counted: after two, a message is given up.
    name: "dead-letters",
    definitions: [
      graph(
        "p",
        [
          aStart(),
          aTask("first"),
          aFork("fork"),
          aTask("left"),
          aTask("right"),
          aFork("join"),
          anEnd(),
        ],
        ["start -> first -> fork -> left -> join -> end", "fork -> right -> join"],
      ),
    ],
    handlers: { first: does("first"), left: does("left"), right: does("right") },
    callers: () => [starter("p", "one"), resolver("one", { retries: 3 })],
    troubles: ["crash", "redeliver"],
    announces: true,
    maxReceives: 2,
  },
];

function roads(name: string, how: Partial<Scenario>): Scenario {
  const ids = NEAR_AND_FAR.map((_, n) => `pause-${n}`);
  return {
    name,
    definitions: [
      graph(
        "p",
        [
          aStart(),
          ...NEAR_AND_FAR.map((duration, n) => aTimer(`pause-${n}`, { duration })),
          aTask("after"),
          anEnd(),
        ],
        [`start -> ${ids.join(" -> ")} -> after -> end`],
      ),
    ],
    handlers: { after: does("after") },
    callers: () => [starter("p", "one")],
    confluent: true,
    troubles: ON_THE_ROAD,
    punctual: true,
    ...how,
  };
}

/** Timers that fall due one after the other, each within a minute of the last. */
function crowd(name: string, how: Partial<Scenario>): Scenario {
  const seconds = [0, 20, 35, 55, 70, 110];
  return {
    name,
    definitions: seconds.map((second) =>
      graph(
        `p${second}`,
        [aStart(), aTimer("pause", { duration: `PT16M${second}S` }), anEnd()],
        ["start -> pause -> end"],
      ),
    ),
    handlers: {},
    callers: () => seconds.map((second) => starter(`p${second}`, `at-${second}`)),
    confluent: true,
    troubles: ON_THE_ROAD,
    punctual: true,
    ...how,
  };
}

function undeployer(definition: string, instanceId: string): Caller {
  return {
    name: "undeployer",
    calls: [
      {
        name: "undeploy",
        make: async ({ engine, committedEntries }) => {
          if (committedEntries(instanceId) === 0) return "again later";
          await engine.undeploy(definition);
          return { kind: "done" };
        },
      },
    ],
  };
}
