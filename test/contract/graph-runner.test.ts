import {
  aBoundaryTimer,
  anEnd,
  aProcess,
  aStart,
  aTask,
  aTimer,
} from "../support/graph-builder.ts";
import { aProgram } from "../support/play.ts";
import { describeRunner } from "./runner.contract.ts";

describeRunner("the graph runner", {
  oneTask: () =>
    aProgram(
      aProcess([aStart(), aTask("work", { retries: "2" }), anEnd()], ["start -> work -> end"]),
    ),
  taskThenTimer: () =>
    aProgram(
      aProcess(
        [aStart(), aTask("work"), aTimer("pause", { duration: "PT1H" }), aTask("after")],
        ["start -> work -> pause -> after"],
      ),
    ),
  race: () =>
    aProgram(
      aProcess(
        [
          aStart(),
          aTask("work"),
          aBoundaryTimer("late", { on: "work", duration: "PT1H" }),
          aTask("on-time"),
          aTask("too-late"),
        ],
        ["start -> work -> on-time", "late -> too-late"],
      ),
    ),
  exhausted: "incident",
  patch: "taken",
});
