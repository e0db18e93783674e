// User tasks that are also jobs: users claim and unclaim what a worker has locked.
import { USER_TASK_TYPE } from "../../../lib/definition/user-task.ts";
import { anEnd, aStart, aTask, aUserTask } from "../../support/graph-builder.ts";
import { canceller, maybeTaken, start } from "../actors/callers.ts";
import { type Crew, IDS, newCrew, worker } from "../actors/outside-workers.ts";
import { does } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Caller, Scenario } from "./scenario.ts";
import { person } from "./user-task.ts";

const shared = aUserTask("approve", { asJob: true, candidateGroups: ["sales"] });

const definition = graph(
  "p",
  [aStart(), aTask("before"), shared, aTask("after"), anEnd()],
  ["start -> before -> approve -> after -> end"],
);

const starters = (): readonly Caller[] =>
  IDS.map((instanceId) => ({
    name: `starter of ${instanceId}`,
    calls: [start("p", { instanceId }, maybeTaken)],
  }));

const works = (name: string, way: Parameters<typeof worker>[1], crew: Crew): Caller =>
  worker(name, way, crew, { type: USER_TASK_TYPE });

const handlers = { before: does("before"), after: does("after") };

export const SHARED_TASK_SCENARIOS: readonly Scenario[] = [
  {
    name: "shared-task",
    definitions: [definition],
    handlers,
    callers: () => {
      const crew = newCrew();
      return [
        ...starters(),
        person("anna", ["claim", "unclaim", "claim", "complete"], 1_000),
        person("bert", ["claim", "unclaim"], 1_000),
        works("doomed", "dies", crew),
        works("slow", "beats", crew),
      ];
    },
    maxClaims: { anna: 2, bert: 1 },
  },
  {
    name: "shared-task-cancel",
    definitions: [definition],
    handlers,
    callers: () => [
      ...starters(),
      person("anna", ["claim", "unclaim", "claim"], 1_000),
      works("slow", "beats", newCrew()),
      canceller("one", 5_000),
    ],
    maxClaims: { anna: 2 },
  },
  {
    name: "shared-task-alone",
    definitions: [definition],
    handlers,
    // Nothing crashes and no outcome is unknown: a locked task is given to no other worker, even if
    // claimed.
    callers: () => {
      const crew = { ...newCrew(), isAlone: true };
      return [
        ...starters(),
        person("anna", ["claim", "unclaim", "claim", "unclaim", "claim"], 1_000),
        person("bert", ["claim", "unclaim", "claim"], 1_000),
        works("doomed", "dies", crew),
        works("slow", "beats", crew),
      ];
    },
    maxClaims: { anna: 3, bert: 2 },
    troubles: ["redeliver", "duplicate", "slow"],
  },
];
