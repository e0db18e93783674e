import * as z from "zod";
import { ignoredBody, jsonBody } from "../body.ts";
import { nothing, type Operation, operation } from "../operation.ts";
import { idText, taskTypeName } from "../shapes/values.ts";
import * as shape from "../shapes/worker.ts";

const byId = z.strictObject({ taskId: idText });
const byType = z.strictObject({ type: taskTypeName });
const tag = "Tasks";

/** Calls of workers: activation, heartbeats, and the queue of a task type. */
export const workerOperations: readonly Operation[] = [
  operation({
    id: "activate",
    method: "POST",
    path: "/v1/tasks/activate",
    tag,
    summary: "Activate tasks of a type: take them, each under a lock",
    description:
      "The lock is advisory: until it expires, no other worker gets the task. The open task decides what counts.",
    params: nothing,
    query: nothing,
    body: jsonBody(shape.activate),
    answers: { 200: "The tasks, or none." },
    answer: shape.activation,
    problems: [],
    run: async ({ body }, { engine }) => ({ status: 200, json: await engine.activate(body) }),
  }),
  operation({
    id: "heartbeat",
    method: "POST",
    path: "/v1/tasks/{taskId}/heartbeat",
    tag,
    summary: "Extend the lock of a task, and learn whether the task is still open",
    params: byId,
    query: nothing,
    body: jsonBody(shape.heartbeat),
    answers: { 200: "The new lock, or that the task was cancelled." },
    answer: shape.kept,
    problems: ["task/not-found", "task/lock-lost"],
    run: async ({ params, body }, { engine }) => ({
      status: 200,
      json: await engine.heartbeat(params.taskId, body),
    }),
  }),
  operation({
    id: "taskType",
    method: "GET",
    path: "/v1/task-types/{type}",
    tag,
    summary: "Whether the tasks of a type are polled or sent to a queue",
    params: byType,
    query: nothing,
    body: ignoredBody,
    answers: { 200: "The type, also if no task of it was ever offered." },
    answer: shape.taskType,
    problems: [],
    run: async ({ params }, { engine }) => ({
      status: 200,
      json: await engine.taskType(params.type),
    }),
  }),
  operation({
    id: "setTaskType",
    method: "PUT",
    path: "/v1/task-types/{type}",
    tag,
    summary: "Send the tasks of a type to an SQS queue of yours",
    params: byType,
    query: nothing,
    body: jsonBody(shape.setTaskType),
    answers: { 200: "As it is now." },
    answer: shape.taskType,
    problems: ["task-type/no-queues", "task-type/queue-not-allowed", "task-type/queue-unusable"],
    run: async ({ params, body }, { engine }) => ({
      status: 200,
      json: await engine.setTaskType(params.type, body),
    }),
  }),
];
