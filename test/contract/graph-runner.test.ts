import { graphRunner } from "../../lib/kernel/graph/graph-runner.ts";
import {
  aBoundaryTimer,
  aMessageCatch,
  anEnd,
  anEventGateway,
  aProcess,
  aSignalCatch,
  aStart,
  aTask,
  aTimer,
} from "../support/graph-builder.ts";
import { aProgram } from "../support/play.ts";
import { whenTrue } from "../support/when-true.ts";
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
  signalled: () =>
    aProgram(
      aProcess(
        [aStart(), aSignalCatch("wait", "closed"), aTask("after")],
        ["start -> wait -> after"],
      ),
    ),
  messaged: () =>
    aProgram(
      aProcess(
        [aStart(), aMessageCatch("wait", "paid", "42"), aTask("after")],
        ["start -> wait -> after"],
      ),
    ),
  firstOf: () =>
    aProgram(
      aProcess(
        [
          aStart(),
          anEventGateway("first"),
          aSignalCatch("closed", "closed"),
          aMessageCatch("paid", "paid", "42"),
          aTimer("late", { duration: "PT1H" }),
          aTask("on-signal"),
          aTask("on-message"),
          aTask("on-timer"),
        ],
        [
          "start -> first -> closed -> on-signal",
          "first -> paid -> on-message",
          "first -> late -> on-timer",
        ],
      ),
    ),
  assigned: () => {
    const definition = aProcess(
      [aStart(), aTimer("wait", { duration: "PT1H" }), aTask("after"), anEnd()],
      ["start -> wait -> after -> end"],
    );
    return {
      definition,
      runner: graphRunner(definition, [whenTrue({ wait: "approved = true" })]),
    };
  },
  exhausted: "incident",
  taken: "incident",
  patch: "taken",
});
