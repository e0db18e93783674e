import type { Alarm } from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import type { QueueRole } from "../constructs/engine-queues.ts";
import { alarm, idOf } from "./alarm.ts";
import type { Installation } from "./installation.ts";

/**
 * The highest age of the oldest message of a queue, in seconds. Messages are delayed by up to 900:
 * timers, and tasks that are retried after a backoff. A long task takes as long to run.
 */
const MAX_AGE_SECONDS: Readonly<Record<QueueRole, number>> = {
  tasks: 1_800,
  longTasks: 3_600,
  timers: 1_800,
  work: 1_800,
  steps: 600,
};

/** For each queue: the age of its oldest message, and its dead letters. */
export function queueAlarms(scope: Construct, installation: Installation): readonly Alarm[] {
  return [...ages(scope, installation), ...deadLetters(scope, installation)];
}

function ages(scope: Construct, { queues }: Installation): readonly Alarm[] {
  const room = new Construct(scope, "OldestMessage");
  const { tasks, longTasks, timers, work, steps } = queues.byRole();
  const age = (role: QueueRole, queue: typeof tasks.queue) =>
    alarm(room, idOf(role), {
      says: `A message has been in the queue ${role} for more than ${MAX_AGE_SECONDS[role] / 60} minutes.`,
      metric: queue.metricApproximateAgeOfOldestMessage({ statistic: "Maximum" }),
      above: MAX_AGE_SECONDS[role],
      periods: 2,
    });
  return [
    age("tasks", tasks.queue),
    age("longTasks", longTasks.queue),
    age("timers", timers.queue),
    age("work", work.queue),
    age("steps", steps.queue),
  ];
}

function deadLetters(scope: Construct, installation: Installation): readonly Alarm[] {
  const room = new Construct(scope, "DeadLetters");
  return Object.entries(installation.deadLetters()).map(([role, queue]) =>
    alarm(room, idOf(role), {
      says: `There are dead letters of ${role}.`,
      metric: queue.metricApproximateNumberOfMessagesVisible({ statistic: "Maximum" }),
      above: 0,
    }),
  );
}
