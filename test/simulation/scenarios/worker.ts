// Workers: they lock tasks, extend the locks, crash with them, and report too late.
import { aBoundaryTimer, anEnd, aStart, aTask } from "../../support/graph-builder.ts";
import { maybeTaken, start } from "../actors/callers.ts";
import { IDS, newCrew, worker } from "../actors/outside-workers.ts";
import { does } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Caller, Scenario } from "./scenario.ts";

/** A task for workers between two with a handler. */
export const chain = graph(
  "p",
  [aStart(), aTask("before"), aTask("charge"), aTask("after"), anEnd()],
  ["start -> before -> charge -> after -> end"],
);

/**
 * The first task is for workers: its row is written by the call that starts it, and by its parked
 * copy.
 */
const atOnce = graph(
  "p",
  [aStart(), aTask("charge"), aTask("charge2", { type: "charge" }), anEnd()],
  ["start -> charge -> charge2 -> end"],
);

/** The same, with little time for it. */
export const hurried = graph(
  "p",
  [
    aStart(),
    aTask("charge"),
    aBoundaryTimer("late", { on: "charge", duration: "PT30S" }),
    aTask("after"),
    anEnd(),
    anEnd("end2"),
  ],
  ["start -> charge -> after -> end", "late -> end2"],
);

export const handlers = { before: does("before"), after: does("after") };
export const starters = (): readonly Caller[] =>
  IDS.map((instanceId) => ({
    name: `starter of ${instanceId}`,
    calls: [start("p", { instanceId }, maybeTaken)],
  }));

export const WORKER_SCENARIOS: readonly Scenario[] = [
  {
    name: "workers",
    definitions: [chain],
    handlers,
    callers: () => {
      const crew = newCrew();
      return [
        ...starters(),
        worker("doomed", "dies", crew),
        worker("clumsy", "fails-once", crew),
        worker("slow", "beats", crew),
        worker("quick", "completes", crew),
      ];
    },
  },
  {
    name: "workers-at-one-host",
    definitions: [chain],
    handlers,
    // Whatever a crashed poll leaves in its process, every later one meets.
    hosts: 1,
    callers: () => {
      const crew = newCrew();
      return [...starters(), worker("slow", "beats", crew), worker("quick", "completes", crew)];
    },
    troubles: ["crash"],
  },
  {
    name: "workers-in-a-hurry",
    definitions: [hurried],
    handlers,
    callers: () => {
      const crew = newCrew();
      return [
        ...starters(),
        worker("doomed", "dies", crew),
        worker("slow", "beats", crew),
        worker("quick", "completes", crew),
      ];
    },
  },
  {
    name: "workers-beside-an-older-release",
    definitions: [chain],
    handlers,
    // A poll at the older host locks rows whose instances it cannot read.
    callers: () => {
      const crew = newCrew();
      return [...starters(), worker("slow", "beats", crew), worker("quick", "completes", crew)];
    },
    hasOlderHost: true,
  },
  {
    name: "late-worker",
    definitions: [chain],
    handlers,
    callers: () => [...starters(), worker("late", "is-late", newCrew())],
    troubles: ["redeliver", "duplicate", "slow"],
  },
  {
    name: "workers-alone",
    definitions: [atOnce],
    handlers: {},
    // Nothing crashes and no outcome is unknown: no task is given to two workers.
    callers: () => {
      const crew = { ...newCrew(), isAlone: true };
      return [
        ...starters(),
        worker("slow", "beats", crew),
        worker("slower", "beats", crew),
        worker("quick", "completes", crew),
      ];
    },
    troubles: ["redeliver", "duplicate", "slow"],
  },
];
