import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  MAX_ANY_BODY_BYTES,
  MAX_BODY_BYTES,
  MAX_CURSOR_LENGTH,
  MAX_ID_LENGTH,
  MAX_MADE_ID_LENGTH,
  MAX_NAMED_PROBLEMS,
  MAX_RETRIES,
  MAX_TEXT_LENGTH,
  MAX_VERSION,
} from "../../lib/api/limits.ts";
import { operations } from "../../lib/api/operations.ts";
import { MAX_NAME_LENGTH } from "../../lib/definition/limits.ts";
import { aDeadLetter, aReceipt } from "../support/canned-views.ts";
import { engineError } from "../support/fake-engine.ts";
import { fakeApi } from "./fake-api.ts";

describe("the router", () => {
  test.each([
    "/",
    "",
    "/v1",
    "/v1/",
    "/v2/health",
    "/v1/health/",
    "/v1//health",
    "/v1/definitions/",
    "/v1/instances//result",
    "/v1/instances/live/nope",
    "/V1/HEALTH",
    "/v1/definitions:journey",
    "/v1/../v1/health",
    "/%76%31/health",
    "\0",
  ])("answers 404 at the path %j", async (path) => {
    const { api } = await fakeApi();

    const answer = await api("GET", path);

    expect(answer).toMatchObject({ status: 404, json: { code: "request/not-found" } });
  });

  test.each([
    ["PUT", "/v1/definitions", "POST, GET, HEAD, OPTIONS"],
    ["PATCH", "/v1/instances/live", "GET, DELETE, HEAD, OPTIONS"],
    ["GET", "/v1/recover", "POST, OPTIONS"],
    ["HEAD", "/v1/recover", "POST, OPTIONS"],
    ["TRACE", "/v1/definitions/order", "GET, DELETE, HEAD, OPTIONS"],
    ["get", "/v1/health", "GET, HEAD, OPTIONS"],
    ["__proto__", "/v1/health", "GET, HEAD, OPTIONS"],
  ])("answers 405 to %s %s", async (method, path, allow) => {
    const { api } = await fakeApi();

    const answer = await api(method, path);

    expect(answer).toMatchObject({
      status: 405,
      headers: { allow },
      json: { code: "request/method-not-allowed" },
    });
  });

  test("answers HEAD as GET, without the body", async () => {
    const { api } = await fakeApi();

    const answer = await api("HEAD", "/v1/health");

    expect(answer).toMatchObject({
      status: 200,
      headers: { "content-type": "application/json" },
      text: "",
    });
  });

  test("answers OPTIONS with the allowed methods", async () => {
    const { api } = await fakeApi();

    const answer = await api("OPTIONS", "/v1/definitions/order");

    expect(answer).toMatchObject({
      status: 204,
      headers: { allow: "GET, DELETE, HEAD, OPTIONS" },
      text: "",
    });
  });

  test.each(["/v1/instances/%", "/v1/instances/%zz", "/v1/instances/%ff/result"])(
    "refuses the invalid escape of %s",
    async (path) => {
      const { api } = await fakeApi();

      const answer = await api("GET", path);

      expect(answer).toMatchObject({
        status: 400,
        json: { errors: [{ in: "path", at: "instanceId" }] },
      });
    },
  );

  test.each(["a%2Fb", "%00", "%2E%2E", "%F0%9F%98%80", "__proto__", "a b", "i".repeat(255)])(
    "treats the unusual id %s as unknown",
    async (id) => {
      const { api, asked } = await fakeApi();

      const answer = await api("GET", `/v1/instances/${id}`);

      expect(answer.status).toBe(404);
      expect(asked).toEqual([["get", decodeURIComponent(id)]]);
    },
  );

  test.each([
    ["/v1/instances/", "i".repeat(MAX_ID_LENGTH + 1)],
    ["/v1/signals/", "i".repeat(MAX_MADE_ID_LENGTH + 1)],
    ["/v1/event-types/", "n".repeat(MAX_NAME_LENGTH + 1)],
    ["/v1/definitions/order/versions/", "0"],
    ["/v1/definitions/order/versions/", "-1"],
    ["/v1/definitions/order/versions/", "latest"],
    ["/v1/definitions/order/versions/", "99999999999999999999"],
  ])("refuses at %s an id that is never valid", async (path, id) => {
    const { api, asked } = await fakeApi();

    const answer = await api("GET", `${path}${id}`);

    expect(answer.status).toBe(400);
    expect(asked).toEqual([]);
  });

  test.each([
    ["application/x-www-form-urlencoded", "a=1"],
    ["text/plain", "{}"],
    ["", "{}"],
    ["application/json; charset=iso-8859-1", "{}"],
    ["multipart/form-data; boundary=x", "--x--"],
  ])("answers 415 to a body of %j", async (type, body) => {
    const { api } = await fakeApi();

    for (const path of ["/v1/instances/live/cancel", "/v1/recover"]) {
      const answer = await api("POST", path, { headers: { "content-type": type }, body });

      expect(answer).toMatchObject({
        status: 415,
        json: { code: "request/unsupported-media-type" },
      });
      const named = type.includes("charset") ? type : type.replace(/;.*/, "");
      expect(answer.json).toMatchObject({ detail: expect.stringContaining(named) });
    }
  });

  test.each(["gzip", "br", "x-gzip", "GZIP", "identity, gzip", "no-such-coding"])(
    "answers 415 to a body with the Content-Encoding %s, and says what to send",
    async (coding) => {
      const { api, asked } = await fakeApi();
      const body = gzipSync("{}");

      for (const [path, type] of [
        ["/v1/instances/live/cancel", "application/json"],
        ["/v1/recover", "application/json"],
        ["/v1/definitions", "application/json"],
        ["/v1/definitions", "application/xml"],
      ] as const) {
        const headers = { "content-type": type, "content-encoding": coding };
        const answer = await api("POST", path, { headers, body });

        expect(answer).toMatchObject({
          status: 415,
          json: { code: "request/unsupported-media-type" },
        });
        expect(answer.json.detail).toContain("uncompressed");
      }
      expect(asked).toEqual([]);
    },
  );

  test.each(["identity", "Identity", "", "identity, identity"])(
    "reads a body with the Content-Encoding %j",
    async (coding) => {
      const { api } = await fakeApi();

      const headers = { "content-encoding": coding };
      const answer = await api("POST", "/v1/instances/live/cancel", { headers, json: {} });

      expect(answer.status).toBe(200);
    },
  );

  test("takes no notice of the Content-Encoding of a body that is empty or ignored", async () => {
    const { api } = await fakeApi();
    const headers = { "content-encoding": "gzip" };

    expect((await api("POST", "/v1/recover", { headers })).status).toBe(200);
    expect((await api("GET", "/v1/health", { headers })).status).toBe(200);
  });

  const cancel = "/v1/instances/live/cancel";
  const resolve = "/v1/instances/live/incidents/i1/resolve";
  const fail = "/v1/tasks/live:1/fail";
  test.each([
    [cancel, { reason: "r".repeat(MAX_TEXT_LENGTH) }, 200],
    [cancel, { reason: "r".repeat(MAX_TEXT_LENGTH + 1) }, 400],
    [resolve, { retries: MAX_RETRIES }, 200],
    [resolve, { retries: MAX_RETRIES + 1 }, 400],
    [resolve, { retries: 0 }, 400],
    [fail, { message: "", retries: MAX_RETRIES }, 200],
    [fail, { message: "", retries: MAX_RETRIES + 1 }, 400],
    ["/v1/definitions/order/instances", { version: MAX_VERSION }, 201],
    ["/v1/definitions/order/instances", { version: MAX_VERSION + 1 }, 400],
  ])("applies the limit at %s %j", async (path, json, status) => {
    const { api } = await fakeApi();

    const answer = await api("POST", path, { json });

    expect(answer.status).toBe(status);
  });

  test.each([
    [MAX_CURSOR_LENGTH, "store/cursor-invalid"],
    [MAX_CURSOR_LENGTH + 1, "request/invalid"],
  ])("answers a cursor of %i characters with %s", async (length, code) => {
    const { api } = await fakeApi();

    const answer = await api("GET", "/v1/definitions", { query: `cursor=${"c".repeat(length)}` });

    expect(answer).toMatchObject({ status: 400, json: { code } });
  });

  test("lists a limited number of errors and counts the rest", async () => {
    const { api } = await fakeApi();
    const names = Array.from({ length: MAX_NAMED_PROBLEMS + 1 }, (_, n) => [`x${n}`, 1]);

    const answer = await api("POST", cancel, { json: Object.fromEntries(names) });

    expect(answer.json.errors).toHaveLength(MAX_NAMED_PROBLEMS);
    expect(answer.json.detail).toContain(`and ${MAX_NAMED_PROBLEMS} more`);
  });

  test("lists fields that were sent to an operation that takes none", async () => {
    const { api } = await fakeApi();

    const answer = await api("POST", "/v1/definitions/order/disable", { json: { force: true } });

    expect(answer).toMatchObject({ status: 400, json: { errors: [{ at: "/force" }] } });
  });

  test("lists an unknown parameter of every operation", async () => {
    const { api } = await fakeApi();

    for (const { method, path } of operations) {
      const there = path.replace(/\{version\}/, "1").replace(/\{\w+\}/g, "x");
      const answer = await api(method, there, { query: "nonsense=1" });

      // A call that requires a body also reports that it is missing.
      expect(answer.status, `${method} ${path}`).toBe(400);
      const [first, ...others] = z
        .array(z.object({ in: z.string(), at: z.string() }))
        .parse(answer.json.errors);
      expect(first).toEqual({ in: "query", at: "nonsense" });
      expect(others.filter((other) => other.in !== "body" || other.at !== "")).toEqual([]);
    }
  });

  test("answers 413 to a body that is too long, for every operation that reads one", async () => {
    const { api } = await fakeApi();

    const reading = operations.filter(({ method }) => ["POST", "PUT"].includes(method));
    for (const { method, path } of reading) {
      const answer = await api(method, path.replace(/\{\w+\}/g, "x"), {
        headers: { "content-type": "application/json" },
        body: new Uint8Array(
          (path.startsWith("/v1/definitions") ? MAX_ANY_BODY_BYTES : MAX_BODY_BYTES) + 1,
        ),
      });

      expect(answer.status, `${method} ${path}`).toBe(413);
    }
  });

  test("never fails and always conforms to its document, whatever is sent", async () => {
    const { api } = await fakeApi();
    const id = fc.oneof(
      fc.constantFrom(
        "order",
        "live",
        "ended",
        "live%3A1",
        "1",
        "i1",
        encodeURIComponent(aReceipt.broadcastId),
        encodeURIComponent(aDeadLetter.id),
      ),
      fc.webSegment(),
    );
    const path = fc.tuple(
      fc.constantFrom(...operations),
      fc.array(id, { minLength: 3, maxLength: 3 }),
    );
    const body = fc.oneof(
      fc.json(),
      fc.string({ unit: "binary" }),
      fc.uint8Array(),
      fc
        .record(
          {
            variables: fc.dictionary(fc.string(), fc.jsonValue()),
            message: fc.jsonValue(),
            by: fc.jsonValue(),
            retries: fc.jsonValue(),
            instanceId: fc.jsonValue(),
            source: fc.string(),
            notation: fc.constantFrom("bpmn", "journey", "code", 1),
          },
          { requiredKeys: [] },
        )
        .map((value) => JSON.stringify(value)),
      fc
        .record(
          {
            name: fc.oneof(fc.constantFrom("go", "many", "full", "nobody"), fc.jsonValue()),
            payload: fc.oneof(fc.constant({ a: 1 }), fc.jsonValue()),
            id: fc.oneof(fc.string(), fc.jsonValue()),
            target: fc.constantFrom("live", "ended", "x", 1),
            correlationKey: fc.oneof(fc.string(), fc.double(), fc.jsonValue()),
            messageId: fc.string(),
            timeToLive: fc.constantFrom("PT0S", "P1D", "soon", 1),
            deliveryMode: fc.constantFrom("AfterWait", "All", "x"),
          },
          { requiredKeys: [] },
        )
        .map((value) => JSON.stringify(value)),
    );
    const headers = fc.record({
      "content-type": fc.constantFrom(
        "application/json",
        "application/xml",
        "text/xml",
        "application/yaml",
        "text/html",
        "",
      ),
      "idempotency-key": fc.oneof(fc.string(), fc.constant("k")),
    });
    const query = fc.oneof(fc.constant(""), fc.webQueryParameters(), fc.string());

    await fc.assert(
      fc.asyncProperty(
        path,
        query,
        headers,
        body,
        async ([operation, ids], query, headers, body) => {
          let n = 0;
          const there = operation.path.replace(/\{\w+\}/g, () => ids[n++] || "x");
          const answer = await api(operation.method, there, { query, headers, body });

          expect(answer.status).toBeLessThan(500);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("an unexpected error", () => {
  test("is 500, reveals no internals, and gives the id of its log line", async () => {
    const boom = new Error("secret path /data at line 3");
    const logged: unknown[] = [];
    const reportFailure = (failure: unknown) => {
      logged.push(failure);
      return "e-1";
    };
    const { api } = await fakeApi({
      engine: { get: () => Promise.reject(boom) },
      extras: { reportFailure },
    });

    const answer = await api("GET", "/v1/instances/live");

    expect(answer).toMatchObject({
      status: 500,
      json: { code: "engine/unexpected", errorId: "e-1", instance: "/v1/instances/live" },
    });
    expect(answer.text).not.toContain("secret");
    const route = "GET /v1/instances/{instanceId}";
    expect(logged).toEqual([{ error: boom, status: 500, code: "engine/unexpected", route }]);
  });

  test("hides the text of an engine error that the operator has to fix", async () => {
    const { api } = await fakeApi({
      engine: { get: () => Promise.reject(engineError("store/corrupt")) },
    });

    const answer = await api("GET", "/v1/instances/live");

    expect(answer).toMatchObject({ status: 500, json: { code: "store/corrupt" } });
    expect(answer.text).not.toContain("It did not go");
  });
});

describe("a token", () => {
  const settings = { token: "s3cret" };

  test.each([
    ["none", undefined],
    ["another", "Bearer wrong!"],
    ["a longer one", "Bearer s3crets3cret"],
    ["its beginning", "Bearer s3cre"],
    ["an empty one", "Bearer "],
    ["another scheme", "Basic s3cret"],
  ])("is required: %s is 401", async (_, authorization) => {
    const { api, asked } = await fakeApi({ settings });
    const headers = authorization === undefined ? {} : { authorization };

    for (const [method, path] of [
      ["GET", "/v1/instances"],
      ["POST", "/v1/recover"],
      ["GET", "/nowhere"],
      ["PUT", "/v1/instances"],
      ["OPTIONS", "/v1/instances"],
    ] as const) {
      const answer = await api(method, path, { headers });

      expect(answer).toMatchObject({
        status: 401,
        headers: { "www-authenticate": 'Bearer realm="fermata"' },
        json: { code: "request/unauthorized" },
      });
    }
    expect(asked).toEqual([]);
  });

  test.each(["Bearer s3cret", "bearer  s3cret"])(
    "gives access to every operation: %j",
    async (authorization) => {
      const { api } = await fakeApi({ settings });

      const answer = await api("GET", "/v1/instances", { headers: { authorization } });

      expect(answer.status).toBe(200);
    },
  );

  test("is not required for health and for the document", async () => {
    const { api } = await fakeApi({ settings });

    const answers = await Promise.all([api("GET", "/v1/health"), api("GET", "/v1/openapi.json")]);

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });
});
