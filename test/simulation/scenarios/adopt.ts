// Tasks without a handler when they are opened, and with one later: handlers that are added host by
// host, removed and added again, while workers complete some of the tasks.
import { anEnd, aStart, aTask } from "../../support/graph-builder.ts";
import { mustStart, start } from "../actors/callers.ts";
import { does } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Call, Caller, Release, Scenario } from "./scenario.ts";

const definition = graph(
  "p",
  [aStart(), aTask("before"), aTask("work"), aTask("after"), anEnd()],
  ["start -> before -> work -> after -> end"],
);

const OTHERS = ["before", "after"];
const ALL = [...OTHERS, "work"];

/** Rolled out on one host first, rolled back while tasks are running, and rolled out again. */
const releases: readonly Release[] = [
  { atMs: 0, runs: OTHERS },
  { atMs: 20_000, runs: ALL, hosts: [0] },
  { atMs: 90_000, runs: ALL, hosts: [1, 2] },
  { atMs: 150_000, runs: OTHERS, hosts: [0, 2] },
  { atMs: 155_000, runs: OTHERS, hosts: [1] },
  { atMs: 300_000, runs: ALL },
];

const starts: readonly Caller[] = [0, 10_000, 85_000, 149_000, 160_000].map((atMs, n) => ({
  name: `starter of ${n}`,
  calls: [{ ...start("p", { instanceId: `at-${atMs}` }, mustStart), atMs }],
}));

const about: Omit<Scenario, "name" | "callers"> = {
  definitions: [definition],
  handlers: { before: does("before"), work: does("work"), after: does("after") },
  releases,
  maxReceives: 3,
};

/**
 * For a long time only some hosts have it: what one of them sends may reach another, which hands it
 * back.
 */
const halfThere: readonly Release[] = [
  { atMs: 0, runs: OTHERS },
  { atMs: 20_000, runs: ALL, hosts: [0] },
  { atMs: 3_600_000, runs: ALL },
];

/** The handler is removed while its tasks run, which were never offered before. */
const goneMidway: readonly Release[] = [
  { atMs: 0, runs: ALL },
  { atMs: 10_000, runs: OTHERS },
  { atMs: 200_000, runs: ALL },
];

export const ADOPT_SCENARIOS: readonly Scenario[] = [
  { ...about, name: "handlers-come-and-go", callers: () => starts, confluent: true },
  {
    ...about,
    name: "handlers-and-outsiders",
    callers: () => [...starts, { name: "outsider", calls: [15_000, 89_000, 170_000].map(takes) }],
  },
  {
    ...about,
    name: "handlers-half-there",
    releases: halfThere,
    callers: () => starts,
    troubles: ["stall", "redeliver"],
    confluent: true,
  },
  {
    definitions: [definition],
    // It is never given up: if little else happens than crashes, a task may need many attempts.
    name: "handlers-gone-midway",
    handlers: { ...about.handlers, work: { ...does("work"), takesMs: 30_000 } },
    releases: goneMidway,
    callers: () => starts.slice(0, 1),
    troubles: ["crash"],
    confluent: true,
  },
];

/** Completes what is offered at this moment; handlers may be faster. */
function takes(atMs: number): Call {
  return {
    name: "take",
    atMs,
    make: async ({ engine, brings }) => {
      const { items } = await engine.tasks({ type: "work" }, { limit: 2 });
      for (const { taskId } of items) {
        const [instanceId = "", ...ticket] = taskId.split(".");
        const variables = { work: "outside" };
        brings(instanceId, { kind: "task-completed", ticket: ticket.join("."), variables });
        await engine.completeTask(taskId, { variables }, `take-${taskId}`);
      }
      return { kind: "done" };
    },
    judge: (answer) =>
      answer.kind === "refused" && answer.code !== "task/not-found" ? answer.code : undefined,
  };
}
