import * as z from "zod";
import {
  DEFAULT_LOCK_SECONDS,
  MAX_ACTIVATED,
  MAX_LOCK_SECONDS,
  MAX_WAIT_SECONDS,
} from "../../definition/limits.ts";
import { named } from "./registry.ts";
import { count, instant, json, nameText, taskTypeName, variables } from "./values.ts";

const lockSeconds = z.int().min(1).max(MAX_LOCK_SECONDS);
const lockToken = z.string().min(1).max(4_096);

/** A worker's poll. */
export const activate = named(
  "ActivateTasks",
  z.strictObject({
    type: taskTypeName,
    max: z.int().min(1).max(MAX_ACTIVATED),
    lockSeconds: lockSeconds.describe(
      "How long the tasks are locked for this worker without a heartbeat.",
    ),
    worker: nameText.describe("The name of the worker, for operators."),
    waitSeconds: z
      .int()
      .min(0)
      .max(MAX_WAIT_SECONDS)
      .exactOptional()
      .describe("How long the call may wait for a first task; 0 by default."),
  }),
);

/** The tasks that a worker activated. */
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
          input: json.exactOptional().describe("Of a workflow in code: any JSON."),
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
      .describe("No task was open: poll again after so many seconds."),
  }),
);

/** The request that extends a lock. */
export const heartbeat = named(
  "HeartbeatTask",
  z.strictObject({
    lockToken,
    lockSeconds: lockSeconds
      .exactOptional()
      .describe(`From now on; ${DEFAULT_LOCK_SECONDS} by default.`),
  }),
);

/** The current lock, or that the task is no longer open. */
export const kept = named(
  "Heartbeat",
  z.union([
    z.strictObject({ lockToken: z.string(), lockedUntil: instant }),
    z.strictObject({ cancelled: z.literal(true) }),
  ]),
);

/** Whether the tasks of a type are polled or sent to a queue. */
export const setTaskType = named(
  "SetTaskType",
  z.strictObject({
    queueArn: z
      .string()
      .min(1)
      .max(2_048)
      .nullable()
      .describe("The ARN of your SQS queue; null: workers poll the tasks."),
  }),
);

/** A task type whose tasks workers complete. */
export const taskType = named(
  "TaskType",
  z.strictObject({
    type: z.string(),
    queueArn: z.string().nullable(),
    shards: count.describe("Over how many shards its open tasks are spread; grows automatically."),
  }),
);
