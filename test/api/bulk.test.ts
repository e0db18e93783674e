import { describe, expect, test } from "vitest";
import { fakeApi } from "./fake-api.ts";

describe("setting variables", () => {
  const path = "/v1/instances/live/variables";

  test("answers 200, and passes everything on", async () => {
    const { api, asked } = await fakeApi();
    const json = { variables: { rate: 2 }, scope: "pay" };

    const answer = await api("PATCH", path, { json, headers: { "idempotency-key": "k" } });

    expect(answer).toMatchObject({ status: 200, json: { patched: true } });
    expect(asked).toEqual([["patchVariables", "live", json, "k"]]);
  });

  test.each([
    ["live", { variables: {}, scope: "closed" }, 404, "instance/scope-not-found"],
    ["live", { variables: {}, scope: "twice" }, 409, "instance/scope-ambiguous"],
    ["ended", { variables: {} }, 409, "instance/not-live"],
    ["nope", { variables: {} }, 404, "instance/not-found"],
    ["live", {}, 400, "request/invalid"],
    ["live", { variables: { "a b": 1 } }, 400, "request/invalid"],
    ["live", { variables: {}, where: "pay" }, 400, "request/invalid"],
  ])("of %s with %j is refused", async (id, json, status, code) => {
    const { api } = await fakeApi();

    const answer = await api("PATCH", `/v1/instances/${id}/variables`, { json });

    expect(answer).toMatchObject({ status, json: { code } });
  });
});

describe("a list of incidents", () => {
  test("passes its filter on, and its cursor round-trips", async () => {
    const { api, asked } = await fakeApi();
    const query =
      "definition=order&type=JOB_NO_RETRIES&element=pay&businessKey=K%201&tag=t" +
      "&startedAfter=2026-01-01T00:00:00Z&startedBefore=2026-02-01T00:00:00Z&limit=1";

    const answer = await api("GET", "/v1/incidents", { query });

    expect(answer).toMatchObject({
      status: 200,
      json: { items: [{ incidentId: "i1", instanceId: "live" }], nextCursor: "bW9yZQ" },
    });
    expect(asked).toEqual([
      [
        "incidents",
        {
          definition: "order",
          type: "JOB_NO_RETRIES",
          element: "pay",
          businessKey: "K 1",
          tag: "t",
          startedAfter: "2026-01-01T00:00:00.000Z",
          startedBefore: "2026-02-01T00:00:00.000Z",
        },
        { limit: 1 },
      ],
    ]);
  });
});

describe("a bulk operation", () => {
  test.each([
    ["/v1/incidents:resolve", { dryRun: true, matched: 2, resolved: 0 }],
    ["/v1/instances:purge", { dryRun: true, matched: 1, purged: 0 }],
  ])("POST %s is a dry run by default", async (path, json) => {
    const { api } = await fakeApi();

    expect(await api("POST", path)).toMatchObject({ status: 200, json });
  });

  test("runs page by page when it is not a dry run", async () => {
    const { api, asked } = await fakeApi();
    const resolve = {
      filter: { definition: "order", type: "JOB_NO_RETRIES" },
      variables: { card: "new" },
      retries: 3,
      dryRun: false,
      limit: 1,
      cursor: "bW9yZQ",
    };
    const filter = { status: "failed", endedBefore: "2026-01-01T00:00:00.000Z" };

    const resolved = await api("POST", "/v1/incidents:resolve", { json: resolve });
    const purged = await api("POST", "/v1/instances:purge", { json: { filter, dryRun: false } });

    expect(resolved).toMatchObject({
      status: 200,
      json: { resolved: 1, refused: 1, nextCursor: "bW9yZQ" },
    });
    expect(purged).toMatchObject({ status: 200, json: { purged: 1 } });
    expect(asked).toEqual([
      ["resolveIncidents", { ...resolve, cursor: "more" }],
      ["purge", { filter, dryRun: false }],
    ]);
  });

  test.each([
    ["/v1/incidents:resolve", { filter: { where: "pay" } }],
    ["/v1/incidents:resolve", { limit: 201 }],
    ["/v1/incidents:resolve", { retries: 0 }],
    ["/v1/incidents:resolve", { dryRun: "no" }],
    ["/v1/instances:purge", { filter: { status: "running" } }],
    ["/v1/instances:purge", { filter: { endedBefore: "yesterday" } }],
    ["/v1/instances:purge", { cursor: "" }],
  ])("POST %s refuses %j", async (path, json) => {
    const { api, asked } = await fakeApi();

    expect(await api("POST", path, { json })).toMatchObject({
      status: 400,
      json: { code: "request/invalid" },
    });
    expect(asked).toEqual([]);
  });
});
