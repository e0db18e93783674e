// Users who claim, unclaim and complete tasks, while timers and others do the same.
import type { TaskFilter } from "../../../lib/shapes/tasks.ts";
import { aBoundaryTimer, anEnd, aStart, aTask, aUserTask } from "../../support/graph-builder.ts";
import { canceller, starter } from "../actors/callers.ts";
import { does } from "../actors/user-code.ts";
import { graph } from "./definitions.ts";
import type { Answer, Call, Caller, Desk, Scenario } from "./scenario.ts";

/** More assignment changes than any run makes here. */
const TURNS = [0, 1, 2, 3, 4, 5, 6, 7, 8];

/** A user who looks for tasks, and what they do with them, one after the other. */
export function person(
  user: string,
  does: readonly ("claim" | "unclaim" | "complete")[],
  atMs = 0,
): Caller {
  const has: TaskFilter = { assignee: user };
  const free: TaskFilter = { candidateGroup: "sales", state: "created" };
  const steps = does.map((what, n): Call => {
    const key = `${what}-${user}-${n}`;
    return {
      name: `${user} ${what}s`,
      atMs,
      make: async (desk) => {
        const taskId = await firstOf(desk, what === "claim" ? free : has);
        // Another user was faster, or it does not exist yet: no use waiting for it.
        if (taskId === undefined) return { kind: "done", note: "nothing to do" };
        return act(desk, { what, taskId, user, key });
      },
      judge: notRefused,
    };
  });
  return { name: user, calls: steps };
}

type Act = Readonly<{ what: string; taskId: string; user: string; key: string }>;

async function act({ engine, brings }: Desk, { what, taskId, user, key }: Act): Promise<Answer> {
  const [instanceId = "", ...parts] = taskId.split(".");
  const ticket = parts.join(".");
  const kind = "task-assigned";
  switch (what) {
    case "claim":
      for (const turn of TURNS) brings(instanceId, { kind, ticket, turn, assignee: user });
      await engine.claimTask(taskId, { user }, key);
      break;
    case "unclaim":
      for (const turn of TURNS) brings(instanceId, { kind, ticket, turn });
      await engine.unclaimTask(taskId, { user }, key);
      break;
    default: {
      const variables = { by: user };
      brings(instanceId, { kind: "task-completed", ticket, variables });
      await engine.completeTask(taskId, { user, variables }, key);
    }
  }
  return { kind: "done" };
}

async function firstOf({ engine }: Desk, filter: TaskFilter): Promise<string | undefined> {
  const { items } = await engine.tasks(filter, { limit: 10 });
  return items[0]?.taskId;
}

/** A call that comes too late gets one of these codes, and no other. */
const notRefused = (answer: Answer) =>
  answer.kind === "refused" && !/^task\/(claimed|not-found)$/.test(answer.code)
    ? answer.code
    : undefined;

/** Reads a user's list repeatedly; rows that point to nothing are removed on the way. */
function onlooker(user: string, number: number): Caller {
  const look: Call = {
    name: `look at ${user}'s`,
    atMs: 1_000,
    make: async ({ engine }) => {
      await engine.tasks({ assignee: user }, { limit: 10 });
      return { kind: "done" };
    },
  };
  return { name: `onlooker ${number}`, calls: Array.from({ length: 8 }, () => look) };
}

/** Completes every task of this user, until the instance has ended. */
function boss(user: string, instanceId: string): Caller {
  return {
    name: user,
    calls: [
      {
        name: `${user} finishes`,
        atMs: 100_000,
        make: async (desk) => {
          for (const filter of [{ assignee: user }, { candidateGroup: "sales" }]) {
            const taskId = await firstOf(desk, filter);
            if (taskId === undefined) continue;
            const [of = "", ...ticket] = taskId.split(".");
            const variables = { by: user };
            desk.brings(of, { kind: "task-completed", ticket: ticket.join("."), variables });
            try {
              await desk.engine.completeTask(taskId, { variables }, `finish-${taskId}`);
            } catch (cause) {
              if (!/task\/not-found/.test(String(cause))) throw cause;
            }
          }
          const { items } = await desk.engine.list({ status: "succeeded" }, { limit: 10 });
          const isOver = items.some((item) => item.instanceId === instanceId);
          return isOver ? { kind: "done" } : "again later";
        },
      },
    ],
  };
}

const approval = graph(
  "p",
  [
    aStart(),
    aTask("before"),
    aUserTask("approve", { candidateGroups: ["sales"], candidateUsers: ["anna", "bert", "carl"] }),
    aBoundaryTimer("late", { on: "approve", duration: "PT60S" }),
    aUserTask("escalate", { assignee: "dora" }),
    anEnd(),
    anEnd("end2"),
  ],
  ["start -> before -> approve -> end", "late -> escalate -> end2"],
);

const simple = graph(
  "q",
  [aStart(), aUserTask("approve", { candidateGroups: ["sales"] }), anEnd()],
  ["start -> approve -> end"],
);

/** Those about user tasks; every single fault is tried for these, too. */
export const USER_TASK_SCENARIOS: readonly Scenario[] = [
  {
    name: "user-task",
    definitions: [approval],
    handlers: { before: does("before") },
    callers: () => [
      starter("p", "one"),
      person("anna", ["claim", "unclaim", "claim", "complete"], 1_000),
      person("bert", ["claim", "complete"], 1_000),
      boss("dora", "one"),
    ],
    maxClaims: { anna: 2, bert: 1 },
  },
  {
    name: "user-task-cancel",
    definitions: [approval],
    handlers: { before: does("before") },
    callers: () => [
      starter("p", "one"),
      person("anna", ["claim", "unclaim", "claim"], 1_000),
      person("bert", ["claim", "unclaim"], 1_000),
      canceller("one", 10_000),
    ],
    maxClaims: { anna: 2, bert: 1 },
    // A cancel before the start gets an error, and is not repeated.
    leavesTasks: true,
  },
  {
    name: "user-task-left",
    definitions: [simple],
    handlers: {},
    callers: () => [
      starter("q", "one"),
      person("anna", ["claim", "unclaim", "claim"], 1_000),
      person("bert", ["claim", "unclaim", "claim", "unclaim"], 1_000),
      person("carl", ["claim", "unclaim"], 30_000),
    ],
    maxClaims: { anna: 2, bert: 2, carl: 1 },
    leavesTasks: true,
  },
  {
    name: "user-task-watched",
    definitions: [simple],
    handlers: {},
    callers: () => [
      starter("q", "one"),
      person("anna", ["claim", "unclaim", "claim", "unclaim", "claim", "unclaim", "claim"], 1_000),
      onlooker("anna", 1),
      onlooker("anna", 2),
    ],
    maxClaims: { anna: 4 },
    leavesTasks: true,
    troubles: ["crash", "stall", "slow"],
  },
];
