import { describe, expect, test } from "vitest";
import { aUserTask } from "../support/canned-views.ts";
import { fakeApi } from "./fake-api.ts";

describe("tasks", () => {
  test("are listed by type and instance", async () => {
    const { api, asked } = await fakeApi();

    const answer = await api("GET", "/v1/tasks", { query: "type=charge&instanceId=live&limit=10" });

    expect(answer.json.items).toMatchObject([{ taskId: "live:1", runsHere: false }]);
    expect(asked).toEqual([["tasks", { type: "charge", instanceId: "live" }, { limit: 10 }]]);
  });

  test("are completed and failed by their id, however it is escaped", async () => {
    const { api, asked } = await fakeApi();
    const headers = { "idempotency-key": "k" };
    const failure = {
      message: "declined",
      code: "DECLINED",
      retries: 0,
      retryAfter: "PT5M",
      variables: { a: 1 },
    };

    const completed = await api("POST", "/v1/tasks/live%3A1/complete", {
      json: { variables: { paid: true } },
      headers,
    });
    const failed = await api("POST", "/v1/tasks/live:1/fail", { json: failure });

    expect([completed.json, failed.json]).toEqual([{ completed: true }, { failed: true }]);
    expect(asked).toEqual([
      ["completeTask", "live:1", { variables: { paid: true } }, "k"],
      ["failTask", "live:1", failure, undefined],
    ]);
  });

  test.each([
    ["/v1/tasks/nope/complete", {}],
    ["/v1/tasks/nope/fail", { message: "x" }],
  ])("that do not exist answer POST %s with 404", async (path, json) => {
    const { api } = await fakeApi();

    const answer = await api("POST", path, { json });

    expect(answer).toMatchObject({ status: 404, json: { code: "task/not-found" } });
  });

  test.each([
    ["no body", undefined],
    ["no message", {}],
    ["a negative number of retries", { message: "x", retries: -1 }],
    ["a duration below zero", { message: "x", retryAfter: "-PT1S" }],
    ["a duration that is none", { message: "x", retryAfter: "5 minutes" }],
    ["an empty code", { message: "x", code: "" }],
    ["an empty lock", { message: "x", lockToken: "" }],
  ])("cannot fail with %s", async (_, json) => {
    const { api, asked } = await fakeApi();

    const answer = await api("POST", "/v1/tasks/live:1/fail", { json });

    expect(answer).toMatchObject({ status: 400, json: { code: "request/invalid" } });
    expect(asked).toEqual([]);
  });

  test("F66: are found by assignee, by candidate and by state", async () => {
    const { api, asked } = await fakeApi();
    const query =
      "assignee=anna&candidateUser=bert&candidateGroup=sales%20%26%20co&state=claimed&overdue=true";

    await api("GET", "/v1/tasks", { query });
    const wrong = await api("GET", "/v1/tasks", { query: "state=done&overdue=yes&assignee=" });

    expect(asked).toEqual([
      [
        "tasks",
        {
          assignee: "anna",
          candidateUser: "bert",
          candidateGroup: "sales & co",
          state: "claimed",
          overdue: true,
        },
        { limit: 50 },
      ],
    ]);
    expect(wrong).toMatchObject({ status: 400, json: { code: "request/invalid" } });
    expect(wrong.json.errors).toHaveLength(3);
  });

  test("F66: are read individually with their form", async () => {
    const { api } = await fakeApi();

    expect((await api("GET", "/v1/tasks/live:1")).json).toEqual(aUserTask);
    expect(await api("GET", "/v1/tasks/nope")).toMatchObject({ status: 404 });
  });

  test("F66: are claimed and unclaimed in the name of a user", async () => {
    const { api, asked } = await fakeApi();
    const headers = { "idempotency-key": "k" };
    const json = { user: "anna", groups: ["sales"] };

    const claimed = await api("POST", "/v1/tasks/live:1/claim", { json, headers });
    const late = await api("POST", "/v1/tasks/live:1/claim", { json: { user: "late" } });
    const back = await api("POST", "/v1/tasks/live:1/unclaim", { json: { user: "anna" } });
    const nobody = await api("POST", "/v1/tasks/live:1/claim", { json: { user: "" } });
    const gone = await api("POST", "/v1/tasks/nope/unclaim", { json: { user: "anna" } });

    expect([claimed.json, back.json]).toEqual([{ claimed: true }, { unclaimed: true }]);
    expect(late).toMatchObject({ status: 409, json: { code: "task/claimed" } });
    expect(nobody).toMatchObject({ status: 400 });
    expect(gone).toMatchObject({ status: 404, json: { code: "task/not-found" } });
    expect(asked[0]).toEqual(["claimTask", "live:1", json, "k"]);
  });
});
