import { type Duration, Stack } from "aws-cdk-lib";
import { VARIABLES } from "../functions/settings.ts";
import type { BlobsBucket } from "./constructs/blobs-bucket.ts";
import type { EngineQueues } from "./constructs/engine-queues.ts";
import type { InstanceTable } from "./constructs/instance-table.ts";
import type { SignalBus } from "./constructs/signal-bus.ts";
import type { TimerSchedules } from "./constructs/timer-schedules.ts";

/** The parts and settings of an installation that its functions need. */
export type EnvironmentProps = Readonly<{
  parts: Readonly<{
    table: InstanceTable;
    queues: EngineQueues;
    bus: SignalBus;
    blobs: BlobsBucket;
    schedules: TimerSchedules | undefined;
  }>;
  tenant: string;
  retention: Duration;
  announce: boolean;
  metricsNamespace: string;
  /** ARNs of the user's own queues for tasks. */
  taskQueues: readonly string[];
  timerQueueMaxSeconds: number;
  scheduleLeadSeconds: number;
}>;

/** The environment of every function, except the one that only compiles. */
export function environmentOf(props: EnvironmentProps): Readonly<Record<string, string>> {
  const { table, bus, blobs } = props.parts;
  return {
    [VARIABLES.table]: table.name,
    ...ofQueues(props.parts.queues),
    [VARIABLES.busName]: bus.bus.eventBusName,
    [VARIABLES.blobsBucket]: blobs.bucket.bucketName,
    [VARIABLES.tenant]: props.tenant,
    [VARIABLES.retentionMs]: String(props.retention.toMilliseconds()),
    [VARIABLES.announces]: String(props.announce),
    [VARIABLES.metricsNamespace]: props.metricsNamespace,
    ...(props.taskQueues.length > 0 && {
      [VARIABLES.taskQueues]: Stack.of(props.parts.table).toJsonString(props.taskQueues),
    }),
    ...ofTimers(props),
  };
}

function ofQueues({ tasks, longTasks, timers, work, steps }: EngineQueues) {
  return {
    [VARIABLES.tasksQueueUrl]: tasks.queue.queueUrl,
    [VARIABLES.longTasksQueueUrl]: longTasks.queue.queueUrl,
    [VARIABLES.timersQueueUrl]: timers.queue.queueUrl,
    [VARIABLES.workQueueUrl]: work.queue.queueUrl,
    [VARIABLES.stepsQueueUrl]: steps.queue.queueUrl,
  };
}

function ofTimers(props: EnvironmentProps): Readonly<Record<string, string>> {
  const { schedules, queues } = props.parts;
  const near = { [VARIABLES.timerQueueMaxSeconds]: String(props.timerQueueMaxSeconds) };
  if (schedules === undefined) return { [VARIABLES.timerBackend]: "wheel", ...near };
  return {
    [VARIABLES.timerBackend]: "scheduler",
    ...near,
    [VARIABLES.timersQueueArn]: queues.timers.queue.queueArn,
    [VARIABLES.scheduleLeadSeconds]: String(props.scheduleLeadSeconds),
    [VARIABLES.scheduleGroup]: schedules.group.scheduleGroupName,
    [VARIABLES.scheduleRoleArn]: schedules.caller.roleArn,
    [VARIABLES.scheduleDeadLettersArn]: schedules.deadLetters.queueArn,
  };
}
