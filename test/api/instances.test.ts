import { describe, expect, test } from "vitest";
import { MAX_BODY_BYTES, MAX_JSON_DEPTH } from "../../lib/api/limits.ts";
import { MAX_BUSINESS_KEY_LENGTH, MAX_TAG_LENGTH, MAX_TAGS } from "../../lib/definition/limits.ts";
import { engineError } from "../support/fake-engine.ts";
import { fakeApi } from "./fake-api.ts";

const START = "/v1/definitions/order/instances";

describe("starting", () => {
  test("answers 201 with the instance, and passes everything on", async () => {
    const { api, asked } = await fakeApi();
    const json = {
      variables: { total: 42, nested: { "any name": [null, true, "x", 1.5] } },
      instanceId: "my-order_1",
      businessKey: "K 1",
      version: 1,
      tags: ["a", "b"],
      deadline: "P1D",
    };

    const answer = await api("POST", START, { json, headers: { "idempotency-key": "k-1" } });

    expect(answer).toMatchObject({
      status: 201,
      headers: { location: "/v1/instances/my-order_1" },
      json: { instanceId: "my-order_1", status: "running", variables: json.variables },
    });
    expect(asked).toEqual([["start", "order", json, "k-1"]]);
  });

  test("needs no body", async () => {
    const { api, asked } = await fakeApi();

    const answer = await api("POST", START);

    expect(answer.status).toBe(201);
    expect(asked).toEqual([["start", "order", {}, undefined]]);
  });

  test("lists every unknown field and every variable whose name FEEL cannot read", async () => {
    const { api } = await fakeApi();
    const json = { variables: { good: 1, "not good": 2, in: 3, "1st": 4 }, colour: "red", size: 1 };

    const answer = await api("POST", START, { json });

    expect(answer.status).toBe(400);
    const errors = answer.json.errors;
    expect(errors).toHaveLength(5);
    expect(errors).toMatchObject([
      { in: "body", at: "/variables/not good" },
      { at: "/variables/in" },
      { at: "/variables/1st" },
      { at: "/colour", message: '"colour" is not known here' },
      { at: "/size" },
    ]);
  });

  test("names what is wrong in every part of the request at once", async () => {
    const { api, asked } = await fakeApi();

    const answer = await api("POST", START, {
      query: "foo=1&bar=2",
      headers: { "idempotency-key": "a b", "content-type": "application/json" },
      body: '{"colour":"red"}',
    });

    expect(answer).toMatchObject({
      status: 400,
      json: {
        errors: [
          { in: "query", at: "foo" },
          { in: "query", at: "bar" },
          { in: "header", at: "Idempotency-Key" },
          { in: "body", at: "/colour" },
        ],
      },
    });
    expect(asked).toEqual([]);
  });

  test("turns minus zero into zero, which JSON can store", async () => {
    const { api, asked } = await fakeApi();
    const headers = { "content-type": "application/json" };

    await api("POST", START, { headers, body: '{"variables":{"a":-0,"b":[-0.0e3],"c":-0.5}}' });

    expect(asked).toEqual([
      ["start", "order", { variables: { a: 0, b: [0], c: -0.5 } }, undefined],
    ]);
  });

  test.each([
    ["a deadline that is an instant", { deadline: "2026-07-01T10:00:00+02:00" }],
    ["a deadline with a zone", { deadline: "2026-07-01T10:00:00+02:00[Europe/Paris]" }],
    ["a deadline in small letters", { deadline: "p1d" }],
    ["a deadline in the past", { deadline: "2001-01-01T00:00:00Z" }],
    ["a deadline of now", { deadline: "PT0S" }],
    ["the deepest nesting", { variables: { a: nested(MAX_JSON_DEPTH - 2) } }],
    ["the most tags of the greatest length", { tags: tags(MAX_TAGS, MAX_TAG_LENGTH) }],
    ["the longest business key", { businessKey: "k".repeat(MAX_BUSINESS_KEY_LENGTH) }],
    ["the longest instance id", { instanceId: "i".repeat(64) }],
    ["the largest body", { variables: { a: "x".repeat(MAX_BODY_BYTES - 22) } }],
  ])("takes %s", async (_, json) => {
    const { api } = await fakeApi();

    const answer = await api("POST", START, { json });

    expect(answer.status).toBe(201);
  });

  test.each([
    ["a body that is a list", [], 400],
    ["a body that is null", null, 400],
    ["variables that are a list", { variables: [] }, 400],
    ["an instance id with a blank", { instanceId: "a b" }, 400],
    ["an instance id of 65 characters", { instanceId: "i".repeat(65) }, 400],
    ["an empty instance id", { instanceId: "" }, 400],
    ["version 0", { version: 0 }, 400],
    ["version 1.5", { version: 1.5 }, 400],
    ["version 1e30", { version: 1e30 }, 400],
    ["version as text", { version: "1" }, 400],
    ["a deadline that is neither", { deadline: "soon" }, 400],
    ["a deadline without an offset", { deadline: "2026-07-01T10:00:00" }, 400],
    ["a deadline below zero", { deadline: "-PT1H" }, 400],
    ["a deadline of which a part is below zero", { deadline: "P1DT-1H" }, 400],
    ["nesting one too deep", { variables: { a: nested(MAX_JSON_DEPTH - 1) } }, 400],
    ["one tag too many", { tags: tags(MAX_TAGS + 1, 1) }, 400],
    ["a tag one too long", { tags: tags(1, MAX_TAG_LENGTH + 1) }, 400],
    ["a business key one too long", { businessKey: "k".repeat(MAX_BUSINESS_KEY_LENGTH + 1) }, 400],
    ["text with half a surrogate pair", { businessKey: "\ud800" }, 400],
    ["a name with half a surrogate pair", { variables: { a: { "\ud800": 1 } } }, 400],
    ["a body one byte too large", { variables: { a: "x".repeat(MAX_BODY_BYTES - 21) } }, 413],
  ])("refuses %s", async (_, json, status) => {
    const { api, asked } = await fakeApi();

    const answer = await api("POST", START, { json });

    expect(answer.status).toBe(status);
    expect(asked).toEqual([]);
  });

  test.each([
    ["__proto__ as a name", '{"variables":{"a":{"__proto__":1}}}', "/variables/a/__proto__"],
    ["a number beyond a double", '{"variables":{"a":1e999}}', "/variables/a"],
    ["text that is not JSON", '{"variables":', ""],
    ["text after the JSON", "{} {}", ""],
    ["nesting that JSON.parse would take", "[".repeat(100_000), ""],
  ])("refuses %s, and says where", async (_, body, at) => {
    const { api } = await fakeApi();

    const answer = await api("POST", START, {
      headers: { "content-type": "application/json" },
      body,
    });

    expect(answer).toMatchObject({ status: 400, json: { errors: [{ in: "body", at }] } });
  });

  test("reports the byte at which a body stops being UTF-8", async () => {
    const { api } = await fakeApi();
    const body = Buffer.concat([Buffer.from('{"x":"ü\uFFFD'), Uint8Array.of(0xc3, 0x28)]);

    const answer = await api("POST", START, {
      headers: { "content-type": "application/json" },
      body,
    });

    expect(answer.status).toBe(400);
    expect(answer.json.detail).toContain("not UTF-8 at byte 11");
  });

  test.each(["", "a b", "ü", "k".repeat(256)])("refuses the idempotency key %j", async (key) => {
    const { api, asked } = await fakeApi();

    const answer = await api("POST", START, { headers: { "idempotency-key": key } });

    expect(answer).toMatchObject({
      status: 400,
      json: { errors: [{ in: "header", at: "Idempotency-Key" }] },
    });
    expect(asked).toEqual([]);
  });

  test.each([
    ["definition/disabled", 409],
    ["definition/not-startable", 409],
    ["instance/id-taken", 409],
    ["request/key-reused", 409],
    ["engine/busy", 429],
    ["store/disk-full", 503],
  ] as const)("answers %s with %i", async (code, status) => {
    const { api } = await fakeApi({ engine: { start: () => Promise.reject(engineError(code)) } });

    const answer = await api("POST", START);

    expect(answer).toMatchObject({ status, json: { code, status } });
  });

  function nested(depth: number): unknown {
    return depth === 0 ? 1 : [nested(depth - 1)];
  }
  function tags(count: number, length: number): readonly string[] {
    return Array.from({ length: count }, () => "t".repeat(length));
  }
});

describe("listing instances", () => {
  test("passes every filter on, with instants in one format", async () => {
    const { api, asked } = await fakeApi();
    const query =
      "definition=order&status=running&incident=true&limit=200&cursor=Yw" +
      "&startedAfter=2026-07-01T12:00:00%2B02:00&startedBefore=2026-07-02T00:00:00Z";

    const answer = await api("GET", "/v1/instances", { query });

    expect(answer.status).toBe(200);
    expect(asked).toEqual([
      [
        "list",
        {
          definition: "order",
          status: "running",
          incident: true,
          startedAfter: "2026-07-01T10:00:00.000Z",
          startedBefore: "2026-07-02T00:00:00.000Z",
        },
        { limit: 200, cursor: "c" },
      ],
    ]);
  });

  test.each([
    ["limit=0", "limit"],
    ["limit=201", "limit"],
    ["limit=-1", "limit"],
    ["limit=1.5", "limit"],
    ["limit=1e2", "limit"],
    ["limit=99999999999999999999999999", "limit"],
    ["limit=", "limit"],
    ["limit", "limit"],
    ["limit=1&limit=1", "limit"],
    ["status=sleeping", "status"],
    ["status=RUNNING", "status"],
    ["incident=false", "incident"],
    ["incident", "incident"],
    ["definition=", "definition"],
    ["startedAfter=yesterday", "startedAfter"],
    ["startedAfter=2026-07-01T12:00:00+02:00", "startedAfter"],
    ["startedBefore=2026-02-30T00:00:00Z", "startedBefore"],
    ["cursor=", "cursor"],
    ["colour=red", "colour"],
    ["__proto__=1", "__proto__"],
    ["definition=%E0%A4%A", "definition"],
    ["definition=%ff", "definition"],
  ])("refuses ?%s", async (query, at) => {
    const { api, asked } = await fakeApi();

    const answer = await api("GET", "/v1/instances", { query });

    expect(answer).toMatchObject({ status: 400, json: { errors: [{ in: "query", at }] } });
    expect(asked).toEqual([]);
  });

  test("explains how to encode the plus of an offset", async () => {
    const { api } = await fakeApi();

    const answer = await api("GET", "/v1/instances", {
      query: "startedAfter=2026-07-01T12:00:00+02:00",
    });

    expect(answer.json.detail).toContain("%2B");
  });
});

describe("an instance", () => {
  test.each([
    ["GET", "/v1/instances/live"],
    ["GET", "/v1/instances/ended"],
    ["GET", "/v1/instances/ended/result"],
    ["GET", "/v1/instances/live/waits"],
    ["GET", "/v1/instances/live/history"],
    ["POST", "/v1/instances/live/cancel"],
    ["POST", "/v1/instances/live/incidents/i1/resolve"],
  ])("answers %s %s with 200", async (method, path) => {
    const { api } = await fakeApi();

    const answer = await api(method, path);

    expect(answer.status).toBe(200);
  });

  test.each([
    ["GET", "/v1/instances/nope", "instance/not-found"],
    ["GET", "/v1/instances/nope/result", "instance/not-found"],
    ["GET", "/v1/instances/nope/waits", "instance/not-found"],
    ["GET", "/v1/instances/nope/history", "instance/not-found"],
    ["POST", "/v1/instances/nope/cancel", "instance/not-found"],
    ["POST", "/v1/instances/nope/incidents/i1/resolve", "instance/not-found"],
    ["POST", "/v1/instances/live/incidents/i2/resolve", "incident/not-found"],
  ])("answers %s %s with 404", async (method, path, code) => {
    const { api } = await fakeApi();

    const answer = await api(method, path);

    expect(answer).toMatchObject({ status: 404, json: { code, instance: path } });
  });

  test("passes bodies and keys on", async () => {
    const { api, asked } = await fakeApi();
    const headers = { "idempotency-key": "k" };

    await api("POST", "/v1/instances/live/cancel", { json: { reason: "why not" }, headers });
    await api("POST", "/v1/instances/live/incidents/i1/resolve", {
      json: { variables: { a: 1 }, retries: 2 },
      headers,
    });

    expect(asked).toEqual([
      ["cancel", "live", { reason: "why not" }, "k"],
      ["resolveIncident", "live", "i1", { variables: { a: 1 }, retries: 2 }, "k"],
    ]);
  });
});

describe("a result", () => {
  const ENDED = { status: "succeeded", terminationKind: "success", variables: {} } as const;

  test("that is not available yet is 409 at once, unless the caller waits", async () => {
    const waited: number[] = [];
    const waitForEnd = async (_: string, ms: number) => void waited.push(ms);
    const { api } = await fakeApi({ extras: { waitForEnd } });

    const answer = await api("GET", "/v1/instances/live/result");

    expect(answer).toMatchObject({ status: 409, json: { code: "instance/not-ended" } });
    expect(waited).toEqual([]);
  });

  test("can be waited for", async () => {
    let ended = false;
    const result = async () => {
      if (!ended) throw engineError("instance/not-ended");
      return ENDED;
    };
    const waitForEnd = async (instanceId: string, ms: number) => {
      ended = instanceId === "live" && ms === 25_000;
    };
    const { api } = await fakeApi({ engine: { result }, extras: { waitForEnd } });

    const answer = await api("GET", "/v1/instances/live/result", { query: "waitSeconds=25" });

    expect(answer).toMatchObject({ status: 200, json: ENDED });
  });

  test("that did not come in time is 409", async () => {
    const { api } = await fakeApi({ extras: { waitForEnd: async () => {} } });

    const answer = await api("GET", "/v1/instances/live/result", { query: "waitSeconds=1" });

    expect(answer.status).toBe(409);
  });

  test("of an unknown instance is not waited for", async () => {
    const waitForEnd = () => Promise.reject(new Error("waited"));
    const { api } = await fakeApi({ extras: { waitForEnd } });

    const answer = await api("GET", "/v1/instances/nope/result", { query: "waitSeconds=1" });

    expect(answer.status).toBe(404);
  });

  test.each(["26", "-1", "x", "0.5", ""])(
    "is not waited for longer than the limit: %s seconds",
    async (seconds) => {
      const { api } = await fakeApi();

      const answer = await api("GET", "/v1/instances/live/result", {
        query: `waitSeconds=${seconds}`,
      });

      expect(answer.status).toBe(400);
    },
  );
});
