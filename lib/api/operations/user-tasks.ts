import * as z from "zod";
import { ignoredBody, jsonBody } from "../body.ts";
import { nothing, type Operation, operation } from "../operation.ts";
import { task } from "../shapes/task.ts";
import * as shape from "../shapes/user-task.ts";
import { idText } from "../shapes/values.ts";

const byId = z.strictObject({ taskId: idText });
const tag = "Tasks";

/** Reading, claiming and unclaiming user tasks. */
export const userTaskOperations: readonly Operation[] = [
  operation({
    id: "task",
    method: "GET",
    path: "/v1/tasks/{taskId}",
    tag,
    summary: "Read one open task",
    params: byId,
    query: nothing,
    body: ignoredBody,
    answers: { 200: "The task, with the text of its form where the definition has it." },
    answer: task,
    problems: ["task/not-found"],
    run: async ({ params }, { engine }) => ({
      status: 200,
      json: await engine.task(params.taskId),
    }),
  }),
  operation({
    id: "claimTask",
    method: "POST",
    path: "/v1/tasks/{taskId}/claim",
    tag,
    summary: "Claim a user task",
    takesKey: true,
    params: byId,
    query: nothing,
    body: jsonBody(shape.claim),
    answers: { 200: "The user has it; also when they had it before." },
    answer: shape.claimed,
    problems: [
      "task/not-found",
      "task/claimed",
      "task/not-a-candidate",
      "task/not-for-people",
      "request/key-reused",
    ],
    run: async ({ params, body, key }, { engine }) => ({
      status: 200,
      json: await engine.claimTask(params.taskId, body, key),
    }),
  }),
  operation({
    id: "unclaimTask",
    method: "POST",
    path: "/v1/tasks/{taskId}/unclaim",
    tag,
    summary: "Unclaim a user task",
    takesKey: true,
    params: byId,
    query: nothing,
    body: jsonBody(shape.unclaim),
    answers: { 200: "It is unclaimed; also if it was unclaimed before." },
    answer: shape.unclaimed,
    problems: ["task/not-found", "task/claimed", "task/not-for-people", "request/key-reused"],
    run: async ({ params, body, key }, { engine }) => ({
      status: 200,
      json: await engine.unclaimTask(params.taskId, body, key),
    }),
  }),
];
