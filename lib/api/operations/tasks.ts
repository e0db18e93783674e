import * as z from "zod";
import { ignoredBody, jsonBody } from "../body.ts";
import { paged } from "../cursor.ts";
import { nothing, type Operation, operation } from "../operation.ts";
import { pageOf, pageQuery } from "../shapes/page.ts";
import * as shape from "../shapes/task.ts";
import { userTaskFilter } from "../shapes/user-task.ts";
import { idText, taskTypeName } from "../shapes/values.ts";

const byId = z.strictObject({ taskId: idText });
const tag = "Tasks";

/** Listing, completing and failing tasks. */
export const taskOperations: readonly Operation[] = [
  operation({
    id: "tasks",
    method: "GET",
    path: "/v1/tasks",
    tag,
    summary: "List open tasks",
    params: nothing,
    query: z.strictObject({
      type: taskTypeName.exactOptional(),
      instanceId: idText.exactOptional(),
      ...userTaskFilter,
      overdue: z
        .literal("true")
        .transform(() => true as const)
        .exactOptional()
        .describe("Its due date has passed."),
      ...pageQuery,
    }),
    body: ignoredBody,
    answers: { 200: "A page of open tasks." },
    answer: shape.taskList,
    problems: ["store/cursor-invalid"],
    run: async ({ query }, { engine }) => {
      const { limit, cursor, ...filter } = query;
      return { status: 200, json: paged(await engine.tasks(filter, pageOf(query))) };
    },
  }),
  operation({
    id: "completeTask",
    method: "POST",
    path: "/v1/tasks/{taskId}/complete",
    tag,
    summary: "Complete a task",
    takesKey: true,
    params: byId,
    query: nothing,
    body: jsonBody(shape.complete),
    answers: { 200: "Completed." },
    answer: shape.completed,
    problems: [
      "definition/notation-differs",
      "task/not-found",
      "task/claimed",
      "task/outputs-missing",
      "task/lock-lost",
      "request/key-reused",
    ],
    run: async ({ params, body, key }, { engine }) => ({
      status: 200,
      json: await engine.completeTask(params.taskId, body, key),
    }),
  }),
  operation({
    id: "failTask",
    method: "POST",
    path: "/v1/tasks/{taskId}/fail",
    tag,
    summary: "Report that a task failed",
    takesKey: true,
    params: byId,
    query: nothing,
    body: jsonBody(shape.fail),
    answers: { 200: "Taken note of." },
    answer: shape.failed,
    problems: ["task/not-found", "task/lock-lost", "request/key-reused"],
    run: async ({ params, body, key }, { engine }) => ({
      status: 200,
      json: await engine.failTask(params.taskId, body, key),
    }),
  }),
];
