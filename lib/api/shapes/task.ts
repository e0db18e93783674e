import * as z from "zod";
import { MAX_RETRIES, MAX_TEXT_LENGTH } from "../limits.ts";
import { listOf } from "./page.ts";
import { named } from "./registry.ts";
import { userTaskFields, workFields } from "./user-task.ts";
import { count, duration, instant, json, nameText, newVariables, variables } from "./values.ts";

/** An open task. */
export const task = named(
  "Task",
  z.strictObject({
    taskId: z.string(),
    type: z.string(),
    instanceId: z.string(),
    element: z.string(),
    definition: z.strictObject({ id: z.string(), version: z.int() }),
    variables,
    input: json.exactOptional().describe("Of a workflow in code: any JSON."),
    headers: z.record(z.string(), z.string()),
    attempt: count.describe("Counts from 1."),
    retries: count.describe("Attempts left, this one included."),
    idempotencyKey: z.string().describe("The same for every attempt at this task."),
    createdAt: instant,
    runsHere: z.boolean().describe("The engine runs this task itself."),
    ...userTaskFields,
    ...workFields,
  }),
);

const lockToken = z
  .string()
  .min(1)
  .max(4_096)
  .describe("Of the worker's last activation or heartbeat; leave it out if there is none.");

/** A page of open tasks. */
export const taskList = listOf("TaskList", task);

/** The request that completes a task. */
export const complete = named(
  "CompleteTask",
  z.strictObject({
    lockToken: lockToken.exactOptional(),
    variables: newVariables.exactOptional(),
    result: json
      .exactOptional()
      .describe("Of a workflow in code: the result, any JSON, instead of variables."),
    user: nameText
      .exactOptional()
      .describe("Who completes a user task; refused if it is claimed by another user."),
  }),
);

/** The answer to a complete. */
export const completed = named("Completed", z.strictObject({ completed: z.literal(true) }));

/** The request that reports a failure. */
export const fail = named(
  "FailTask",
  z.strictObject({
    lockToken: lockToken.exactOptional(),
    message: z.string().max(MAX_TEXT_LENGTH),
    code: z
      .string()
      .min(1)
      .max(MAX_TEXT_LENGTH)
      .exactOptional()
      .describe("A business error that boundary events can catch; without it a retry is used up."),
    retries: z
      .int()
      .min(0)
      .max(MAX_RETRIES)
      .exactOptional()
      .describe("Attempts left after this one."),
    retryAfter: duration.exactOptional(),
    variables: newVariables.exactOptional(),
  }),
);

/** The answer to a fail. */
export const failed = named("Failed", z.strictObject({ failed: z.literal(true) }));
