import { gzipSync } from "node:zlib";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { describe, expect, test } from "vitest";
import { requestOf } from "../../functions/http-api/gateway-event.ts";
import { httpApi } from "../../functions/http-api/handler.ts";
import { nodeIds } from "../../lib/adapters/node/ids.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import { aReceipt } from "../support/canned-views.ts";
import { engineError, fakeEngine } from "../support/fake-engine.ts";
import { anHttpEvent } from "../support/gateway-event.ts";
import { ManualTime } from "../support/manual-time.ts";
import { aContext, HeardTelemetry } from "../support/queue-events.ts";

describe("a request through an HTTP API", () => {
  test.each([
    ["/v1/definitions/a b", "GET", "/v1/definitions/a%20b"],
    ["/v1/definitions:validate", "POST", "/v1/definitions:validate"],
    ["/v1/instances/order-1/history", "GET", "/v1/instances/order-1/history"],
    ["/v1/signals/live:7~r1.a/b", "GET", "/v1/signals/live:7~r1.a%2Fb"],
    ["/v1/event-types/orders/paid", "PUT", "/v1/event-types/orders%2Fpaid"],
    ["/v1/dead-letters/ended:3~r1.a/b/replay", "POST", "/v1/dead-letters/ended:3~r1.a%2Fb/replay"],
    ["/v1/dead-letters/a/replay", "DELETE", "/v1/dead-letters/a%2Freplay"],
    ["/v1/event-types/größe", "GET", "/v1/event-types/gr%C3%B6%C3%9Fe"],
    ["/v1/event-types/hash#mark", "GET", "/v1/event-types/hash%23mark"],
    ["/v1/event-types/100%25", "GET", "/v1/event-types/100%25"],
    ["/v1/event-types/100%", "GET", "/v1/event-types/100%25"],
  ])("that arrives with %s decoded is encoded again (%s)", (rawPath, method, path) => {
    expect(requestOf(anHttpEvent({ rawPath, method })).path).toBe(path);
  });

  test("has the name of its stage removed", () => {
    const event = anHttpEvent({ rawPath: "/prod/v1/health", stage: "prod" });

    expect(requestOf(event).path).toBe("/v1/health");
    expect(requestOf(anHttpEvent({ rawPath: "/prod/v1/health" })).path).toBe("/prod/v1/health");
  });

  test("keeps its query as it was sent, and has its headers in lower case", () => {
    const request = requestOf(
      anHttpEvent({ rawQueryString: "status=running&name=a%2Bb", headers: { "X-Sent": "a, b" } }),
    );

    expect(request.query).toBe("status=running&name=a%2Bb");
    expect(request.headers).toMatchObject({ "x-sent": "a, b" });
  });

  test("keeps its body, whatever the encoding of the gateway", () => {
    const plain = requestOf(anHttpEvent({ body: '{"a":"ü"}' }));
    const encoded = requestOf(
      anHttpEvent({ body: Buffer.from("<a>ü</a>").toString("base64"), isBase64Encoded: true }),
    );

    expect(Buffer.from(plain.body).toString()).toBe('{"a":"ü"}');
    expect(Buffer.from(encoded.body).toString()).toBe("<a>ü</a>");
    expect(requestOf(anHttpEvent({})).body).toHaveLength(0);
  });

  test("is refused with 415 when its body is compressed", async () => {
    const { call, asked } = anApi();

    const answer = await call(
      anHttpEvent({
        rawPath: "/v1/definitions/order/instances",
        method: "POST",
        routeKey: "POST /v1/definitions/{definitionId}/instances",
        headers: { "Content-Type": "application/json", "Content-Encoding": "gzip" },
        body: gzipSync("{}").toString("base64"),
        isBase64Encoded: true,
      }),
    );

    expect(answer.statusCode).toBe(415);
    expect(JSON.parse(answer.body ?? "")).toMatchObject({ code: "request/unsupported-media-type" });
    expect(asked).toEqual([]);
  });

  test("can read a receipt whose id contains a slash", async () => {
    const { call } = anApi();
    const rawPath = `/v1/signals/${aReceipt.broadcastId}`;

    const answer = await call(anHttpEvent({ rawPath }));

    expect(answer.statusCode).toBe(200);
    expect(JSON.parse(answer.body ?? "")).toEqual(aReceipt);
  });
});

describe("a route", () => {
  test("reaches only its own operation, even if the gateway cuts the path", async () => {
    const { call, asked } = anApi();

    const answer = await call(
      anHttpEvent({
        rawPath: "/v1/definitions/order/disable",
        method: "POST",
        routeKey: "POST /v1/definitions/{definitionId}/instances",
      }),
    );

    expect(answer.statusCode).toBe(404);
    expect(asked).toEqual([]);
  });

  test("of a REST API also reaches only its own operation", async () => {
    const { call, asked } = anApi();
    const resource = "/v1/definitions/{definitionId}/instances";
    const disabling = { path: "/v1/definitions/order/disable", httpMethod: "POST", resource };
    const starting = { ...disabling, path: "/v1/definitions/order/instances", body: "{}" };
    const headers = { "content-type": "application/json" };

    const evading = await call(aRestEvent({ ...disabling, headers }));
    const honest = await call(aRestEvent({ ...starting, headers }));

    expect(evading.statusCode).toBe(404);
    expect(honest.statusCode).toBe(201);
    expect(asked).toHaveLength(1);
  });
});

describe("the catch-all route", () => {
  test.each([
    ["POST", "/v1/definitions"],
    ["PUT", "/v1/event-types/orders/paid"],
    ["DELETE", "/v1/dead-letters/a/b"],
    ["POST", "/v1/dead-letters/a/b/replay"],
  ])("allows no change: %s %s", async (method, rawPath) => {
    const { call, asked } = anApi();

    const answer = await call(anHttpEvent({ rawPath, method }));

    expect(answer.statusCode).toBe(404);
    expect(asked).toEqual([]);
  });

  test.each([
    ["PATCH", "/v1/instances", 405],
    ["DELETE", "/v1/health", 405],
    ["POST", "/v1/nowhere", 404],
    ["HEAD", "/v1/definitions/order", 200],
  ])("answers like the engine: %s %s", async (method, rawPath, status) => {
    const { call } = anApi();

    expect((await call(anHttpEvent({ rawPath, method }))).statusCode).toBe(status);
  });
});

describe("a request through a REST API", () => {
  test("keeps its path as it was sent", () => {
    const path = "/v1/signals/a%2Fb%3Fc%25d";

    expect(requestOf(aRestEvent({ path })).path).toBe(path);
  });

  test("gets its query and its headers reassembled", () => {
    const request = requestOf(
      aRestEvent({
        multiValueQueryStringParameters: { name: ["a+b&c"], tag: ["x", "y"] },
        headers: { Accept: "b" },
        multiValueHeaders: { Accept: ["a", "b"] },
      }),
    );

    expect(request.query).toBe("name=a%2Bb%26c&tag=x&tag=y");
    expect(request.headers).toEqual({ accept: "a, b" });
  });

  test("is answered", async () => {
    const { call } = anApi();
    const answer = await call(aRestEvent({ path: "/v1/definitions/order" }));

    expect(answer).toMatchObject({ statusCode: 200, isBase64Encoded: false });
    expect(JSON.parse(answer.body ?? "")).toMatchObject({ id: "order" });
  });
});

describe("the API in a function", () => {
  test("returns bytes if a source is not UTF-8", async () => {
    const text = '<?xml version="1.0" encoding="ISO-8859-1"?><a>ü</a>';
    const { call } = anApi({ source: async () => ({ notation: "bpmn", text }) });

    const answer = await call(anHttpEvent({ rawPath: "/v1/definitions/order/versions/1/source" }));

    expect(answer.isBase64Encoded).toBe(true);
    expect(Buffer.from(answer.body ?? "", "base64").toString("latin1")).toBe(text);
  });

  test("waits for a result for at most two seconds, and asks the caller to retry", async () => {
    const { call, time } = anApi();
    const begunAt = time.now();

    const answering = call(
      anHttpEvent({ rawPath: "/v1/instances/live/result", rawQueryString: "waitSeconds=25" }),
    );
    await time.pass(2_000);

    const { statusCode, headers } = await answering;
    expect({ statusCode, after: headers?.["retry-after"] }).toEqual({
      statusCode: 409,
      after: "1",
    });
    expect(time.now() - begunAt).toBe(2_000);
  });

  test("responds as soon as the instance has ended", async () => {
    let hasEnded = false;
    const { call, time } = anApi({
      result: async () => {
        if (!hasEnded) throw engineError("instance/not-ended");
        return { status: "succeeded", terminationKind: "success", variables: {} };
      },
    });

    const answering = call(
      anHttpEvent({ rawPath: "/v1/instances/live/result", rawQueryString: "waitSeconds=25" }),
    );
    await time.pass(250);
    hasEnded = true;
    await time.pass(450);

    expect((await answering).statusCode).toBe(200);
  });

  test("logs an unexpected error under an id that the caller gets, and without payloads", async () => {
    const { call, telemetry } = anApi({
      start: async () => {
        throw new Error("boom");
      },
    });

    const answer = await call(
      anHttpEvent({
        rawPath: "/v1/definitions/order/instances",
        method: "POST",
        routeKey: "POST /v1/definitions/{definitionId}/instances",
        headers: { "content-type": "application/json" },
        body: '{"variables":{"card":"4111"}}',
      }),
    );

    const { errorId, detail } = JSON.parse(answer.body ?? "");
    expect(answer.statusCode).toBe(500);
    expect(detail).not.toContain("boom");
    expect(telemetry.lines[0]).toMatchObject({ name: "request-failed", fields: { errorId } });
    expect(JSON.stringify(telemetry.lines)).not.toContain("4111");
  });
});

function anApi(overrides: Partial<Engine> = {}) {
  const time = new ManualTime();
  const telemetry = new HeardTelemetry();
  const { engine, asked } = fakeEngine(overrides);
  const handler = httpApi(engine, { clock: time, ids: nodeIds(), telemetry });
  const call = (event: Parameters<typeof handler>[0]) => handler(event, aContext());
  return { call, asked, time, telemetry };
}

/** As a REST API sends it; what a request does not have is null. */
function aRestEvent(parts: Partial<APIGatewayProxyEvent>): APIGatewayProxyEvent {
  const path = parts.path ?? "/v1/health";
  return {
    resource: "/{proxy+}",
    path,
    httpMethod: "GET",
    headers: {},
    multiValueHeaders: {},
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: { proxy: path.slice(1) },
    stageVariables: null,
    requestContext: {
      accountId: "123456789012",
      apiId: "abc",
      authorizer: null,
      protocol: "HTTP/1.1",
      httpMethod: "GET",
      identity: anIdentity,
      path: `/prod${path}`,
      stage: "prod",
      requestId: "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
      requestTimeEpoch: 1_893_456_000_000,
      resourceId: "abc123",
      resourcePath: "/{proxy+}",
    },
    body: null,
    isBase64Encoded: false,
    ...parts,
  };
}

const anIdentity: APIGatewayProxyEvent["requestContext"]["identity"] = {
  accessKey: null,
  accountId: null,
  apiKey: null,
  apiKeyId: null,
  caller: null,
  clientCert: null,
  cognitoAuthenticationProvider: null,
  cognitoAuthenticationType: null,
  cognitoIdentityId: null,
  cognitoIdentityPoolId: null,
  principalOrgId: null,
  sourceIp: "192.0.2.1",
  user: null,
  userAgent: "curl/8.5.0",
  userArn: null,
};
