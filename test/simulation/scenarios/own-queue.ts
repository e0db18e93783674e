// Tasks that go to a user's own queue: it refuses some, responds late or not at all, delivers
// others twice, is removed for a while, and once loses everything. Its consumer deletes a message
// only after its task was reported. With queues in memory there is none: tasks are polled for.

import { isOver, newCrew, unlessLost, worker } from "../actors/outside-workers.ts";
import { OWN_QUEUE } from "../world/ports.ts";
import { recoverer } from "./restore.ts";
import type { Call, Caller, Desk, Scenario } from "./scenario.ts";
import { chain, handlers, hurried, starters } from "./worker.ts";

const bound: Caller = { name: "operator", calls: [sends(OWN_QUEUE)] };

/** Removed while it contains tasks, and set again: rows that were written meanwhile are moved. */
const boundTwice: Caller = {
  name: "operator",
  calls: [
    sends(OWN_QUEUE),
    { ...sends(null), atMs: 15_000 },
    { ...sends(OWN_QUEUE), atMs: 60_000 },
  ],
};

export const OWN_QUEUE_SCENARIOS: readonly Scenario[] = [
  {
    name: "own-queue",
    definitions: [chain],
    handlers,
    ownQueue: true,
    callers: () => [
      ...starters(),
      boundTwice,
      consumer("clumsy", "fails-once"),
      consumer("able", "completes"),
      worker("poller", "completes", newCrew()),
    ],
  },
  {
    name: "own-queue-in-a-hurry",
    definitions: [hurried],
    handlers,
    ownQueue: true,
    callers: () => [
      bound,
      ...starters().map(later),
      consumer("able", "completes"),
      worker("poller", "completes", newCrew()),
    ],
  },
  {
    name: "own-queue-lost",
    definitions: [chain],
    handlers,
    ownQueue: true,
    // Nothing is completed before the loss: no instance has ended by then.
    callers: () => [
      bound,
      ...starters(),
      afterRestore(consumer("able", "completes")),
      afterRestore(worker("poller", "completes", newCrew())),
      recoverer(),
    ],
    restoredAtMs: 90,
  },
];

function sends(queueArn: string | null): Call {
  return {
    name: queueArn === null ? "give up the queue" : "set the queue",
    make: async ({ engine }) => {
      await engine.setTaskType("charge", { queueArn });
      return { kind: "done" };
    },
    judge: (answer) =>
      answer.kind === "done" || (answer.kind === "refused" && answer.code === "task-type/no-queues")
        ? undefined
        : `the operator was answered ${JSON.stringify(answer)}`,
  };
}

/** Reads the queue until every instance has ended. */
function consumer(name: string, way: "completes" | "fails-once"): Caller {
  const state = { hasFailed: way === "completes" };
  return {
    name,
    calls: [
      {
        name: "consume",
        make: async (desk) => {
          for (const { id, text } of desk.ownQueue.ready()) {
            const task: Queued = JSON.parse(text);
            const fails = !state.hasFailed;
            state.hasFailed = true;
            await (fails ? fail(desk, task) : complete(desk, task));
            desk.ownQueue.release(id);
          }
          return isOver(desk);
        },
        judge: (answer) =>
          answer.kind === "done" ? undefined : `${name} was answered ${JSON.stringify(answer)}`,
      },
    ],
  };
}

type Queued = Readonly<{ taskId: string; instanceId: string; attempt: number }>;

const ticketOf = ({ taskId, instanceId }: Queued): string => taskId.slice(instanceId.length + 1);

/** A task that is already over: its report is refused, and nothing happens. */
async function complete(desk: Desk, task: Queued): Promise<void> {
  const variables = { charged: true };
  desk.brings(task.instanceId, { kind: "task-completed", ticket: ticketOf(task), variables });
  await unlessLost(() => desk.engine.completeTask(task.taskId, { variables }));
}

/** When the call is made another attempt may be the open one, if the message came twice. */
async function fail(desk: Desk, task: Queued): Promise<void> {
  const { taskId, instanceId } = task;
  const [message, retryAfterMs] = ["clumsy", 60_000];
  for (let attempt = task.attempt; attempt <= 3; attempt++) {
    const about = { ticket: ticketOf(task), attempt, message, retryAfterMs };
    desk.brings(instanceId, { kind: "task-failed", ...about });
  }
  const key = `fail-${taskId}-${task.attempt}`;
  await unlessLost(() => desk.engine.failTask(taskId, { message, retryAfter: "PT1M" }, key));
}

/** The queue is configured by then, unless that fails. */
const later = ({ name, calls }: Caller): Caller => ({
  name,
  calls: calls.map((call) => ({ ...call, atMs: 1_000 })),
});

function afterRestore(caller: Caller): Caller {
  const calls = caller.calls.map((call) => ({
    ...call,
    make: async (desk: Desk) =>
      desk.restore.state() === "not yet" ? "again later" : await call.make(desk),
  }));
  return { ...caller, calls: calls as readonly Call[] };
}
