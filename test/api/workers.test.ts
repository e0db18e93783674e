import { describe, expect, test } from "vitest";
import { EngineError } from "../../lib/ports/engine-error.ts";
import { anActivatedTask } from "../support/canned-views.ts";
import { fakeApi } from "./fake-api.ts";

const poll = { type: "charge", max: 5, lockSeconds: 30, worker: "anna" };

describe("a worker over HTTP", () => {
  test("polls for tasks", async () => {
    const { api, asked } = await fakeApi();

    const answer = await api("POST", "/v1/tasks/activate", { json: { ...poll, waitSeconds: 20 } });

    expect(answer).toMatchObject({ status: 200, json: { tasks: [anActivatedTask] } });
    expect(asked).toEqual([["activate", { ...poll, waitSeconds: 20 }]]);
  });

  test("gets the time after which to poll again", async () => {
    const activate = async () => ({ tasks: [], retryAfter: 2 });
    const { api } = await fakeApi({ engine: { activate } });

    const answer = await api("POST", "/v1/tasks/activate", { json: poll });

    expect(answer).toMatchObject({ status: 200, json: { tasks: [], retryAfter: 2 } });
  });

  test("extends its lock, or learns that the task was cancelled", async () => {
    const { api } = await fakeApi();
    const cancelling = await fakeApi({ engine: { heartbeat: async () => ({ cancelled: true }) } });
    const path = "/v1/tasks/live:1/heartbeat";

    const kept = await api("POST", path, { json: { lockToken: "t", lockSeconds: 5 } });
    const cancelled = await cancelling.api("POST", path, { json: { lockToken: "t" } });

    expect(kept).toMatchObject({ status: 200, json: { lockToken: "0.1.b.charge" } });
    expect(cancelled).toMatchObject({ status: 200, json: { cancelled: true } });
  });

  test("that has lost its lock gets 409", async () => {
    const lost = () =>
      Promise.reject(
        new EngineError("task/lock-lost", {
          happened: "lost",
          where: "t",
          fix: "drop it",
          retryable: false,
        }),
      );
    const { api } = await fakeApi({
      engine: { completeTask: lost, failTask: lost, heartbeat: lost },
    });

    for (const [call, json] of [
      ["complete", { lockToken: "t" }],
      ["fail", { lockToken: "t", message: "x" }],
      ["heartbeat", { lockToken: "t" }],
    ] as const) {
      const answer = await api("POST", `/v1/tasks/live:1/${call}`, { json });
      expect(answer).toMatchObject({ status: 409, json: { code: "task/lock-lost" } });
    }
  });

  test.each([
    ["no type", { ...poll, type: undefined }],
    ["too many at once", { ...poll, max: 101 }],
    ["no lock", { ...poll, lockSeconds: 0 }],
    ["too long a lock", { ...poll, lockSeconds: 43_201 }],
    ["too long a wait", { ...poll, waitSeconds: 26 }],
    ["nobody's name", { ...poll, worker: "" }],
    ["something besides", { ...poll, colour: "red" }],
  ])("cannot poll with %s", async (_, json) => {
    const { api, asked } = await fakeApi();

    const answer = await api("POST", "/v1/tasks/activate", { json });

    expect(answer).toMatchObject({ status: 400, json: { code: "request/invalid" } });
    expect(asked).toEqual([]);
  });

  test("routes the tasks of a type to a queue, and back", async () => {
    const { api, asked } = await fakeApi();
    const queueArn = "arn:aws:sqs:eu-west-1:123456789012:cards";

    const there = await api("PUT", "/v1/task-types/charge", { json: { queueArn } });
    const back = await api("PUT", "/v1/task-types/charge", { json: { queueArn: null } });
    const read = await api("GET", "/v1/task-types/charge");

    expect(there).toMatchObject({ status: 200, json: { type: "charge", queueArn, shards: 1 } });
    expect(back).toMatchObject({ status: 200, json: { queueArn: null } });
    expect(read).toMatchObject({ status: 200, json: { queueArn: null } });
    expect(asked.map(([call]) => call)).toEqual(["setTaskType", "setTaskType", "taskType"]);
  });
});
