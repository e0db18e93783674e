import * as z from "zod";
import {
  DEFAULT_LOCK_SECONDS,
  MAX_ACTIVATED,
  MAX_LOCK_SECONDS,
  MAX_WAIT_SECONDS,
} from "../../definition/limits.ts";
import { named } from "./registry.ts";
import { count, instant, nameText, taskTypeName, variables } from "./values.ts";

const lockSeconds = z.int().min(1).max(MAX_LOCK_SECONDS);
const lockToken = z.string().min(1).max(4_096);

/** A worker's poll. */
export const activate = named(
  "ActivateTasks",
  z.strictObject({
    type: taskTypeName,
    max: z.int().min(1).max(MAX_ACTIVATED),
    lockSeconds: lockSeconds.describe("For how long the tasks are this worker's, without a word."),
    worker: nameText.describe("Who asks, for those who look."),
    waitSeconds: z
      .int()
      .min(0)
      .max(MAX_WAIT_SECONDS)
      .exactOptional()
      .describe("How long the call may wait for a first task; 0 unless said."),
  }),
);

/** What a worker was given. */
export const activation = named(
  "Activation",
  z.strictObject({
    tasks: z.array(
      named(
        "ActivatedTask",
        z.strictObject({
          taskId: z.string(),
          lockToken: z.string(),
          type: z.string(),
          instanceId: z.string(),
          element: z.string(),
          definition: z.strictObject({ id: z.string(), version: z.int() }),
          variables,
          headers: z.record(z.string(), z.string()),
          attempt: count.describe("Counts from 1."),
          retries: count.describe("Attempts left, this one included."),
          lockedUntil: instant,
          idempotencyKey: z.string().describe("The same for every attempt at this task."),
        }),
      ),
    ),
    retryAfter: z
      .int()
      .exactOptional()
      .describe("There was nothing: asking again is worth it in so many seconds."),
  }),
);

/** The request that keeps a lock. */
export const heartbeat = named(
  "HeartbeatTask",
  z.strictObject({
    lockToken,
    lockSeconds: lockSeconds
      .exactOptional()
      .describe(`From now on; ${DEFAULT_LOCK_SECONDS} unless said.`),
  }),
);

/** The lock that there is now, or that there is nothing to do any more. */
export const kept = named(
  "Heartbeat",
  z.union([
    z.strictObject({ lockToken: z.string(), lockedUntil: instant }),
    z.strictObject({ cancelled: z.literal(true) }),
  ]),
);

/** Where the tasks of a type go. */
export const setTaskType = named(
  "SetTaskType",
  z.strictObject({
    queueArn: z
      .string()
      .min(1)
      .max(2_048)
      .nullable()
      .describe("An SQS queue of yours; null: tasks are polled for."),
  }),
);

/** A type of task that is done outside. */
export const taskType = named(
  "TaskType",
  z.strictObject({
    type: z.string(),
    queueArn: z.string().nullable(),
    shards: count.describe("Over how many places its open tasks are spread; grows by itself."),
  }),
);
