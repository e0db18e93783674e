import { describe, expect, test } from "vitest";
import { HandlerRuns } from "../../../../lib/adapters/handlers/handler-runs.ts";
import { parseHttpSettings } from "../../../../lib/adapters/handlers/http-task/http-settings.ts";
import { HTTP_TASK, httpTask } from "../../../../lib/adapters/handlers/http-task/http-task.ts";
import { handlersFrom } from "../../../../lib/adapters/handlers/task-handlers.ts";
import { MAX_RESULT_DEPTH } from "../../../../lib/adapters/handlers/task-result.ts";
import type { Json, Variables } from "../../../../lib/definition/json.ts";
import {
  MAX_HTTP_BODY_BYTES,
  MAX_HTTP_HEADER_LENGTH,
  MAX_HTTP_HEADERS,
  MAX_URL_LENGTH,
  MIN_SECRET_LENGTH,
} from "../../../../lib/definition/limits.ts";
import type { HttpOutcome, HttpRequest } from "../../../../lib/ports/http.ts";
import type { TaskOutcome } from "../../../../lib/ports/tasks.ts";

const API_KEY = 's3cr3t/key+with"odd=parts';
const SECRETS: Readonly<Record<string, string>> = {
  API_KEY,
  LONGER: `${API_KEY}-and-more`,
  SHORT: "1234567",
  LINES: "line one\nline two",
  DIGITS: "12345678",
};

type Answer = Readonly<{ status?: number; type?: string; body?: string | Uint8Array }>;

const answered = ({ status = 200, type, body = "" }: Answer): HttpOutcome => ({
  kind: "answered",
  answer: {
    status,
    reason: "As Said",
    headers: type === undefined ? {} : { "content-type": type },
    body: Buffer.from(body),
  },
});

type Ran = Readonly<{ outcome: TaskOutcome; sent: readonly HttpRequest[] }>;

async function run(
  input: Variables,
  answer: HttpOutcome | ((request: HttpRequest) => HttpOutcome) = answered({}),
): Promise<Ran> {
  const sent: HttpRequest[] = [];
  const hosts = ["api.example.com"];
  const { secretHosts } = parseHttpSettings({
    secrets: Object.fromEntries([...Object.keys(SECRETS), "MISSING"].map((name) => [name, hosts])),
  });
  const task = httpTask({
    http: {
      send: async (request) => {
        sent.push(request);
        return typeof answer === "function" ? answer(request) : answer;
      },
    },
    secrets: { valueOf: async (name) => SECRETS[name] },
    secretHosts,
  });
  const handler = handlersFrom({ [HTTP_TASK.type]: task }, new HandlerRuns()).get(HTTP_TASK.type);
  const outcome = await handler?.run(input, {
    taskId: "one.k1",
    instanceId: "one",
    ticket: "k1",
    element: "call",
    idempotencyKey: "one:k1",
    attempt: 2,
    headers: {},
  });
  if (outcome === undefined) throw new Error("there is no handler");
  return { outcome, sent };
}

const URL_ = "https://api.example.com/orders";
const bodyOf = (request: HttpRequest | undefined): string =>
  Buffer.from(request?.body ?? "").toString();
const messageOf = (outcome: TaskOutcome): string =>
  outcome.kind === "failed" ? outcome.message : "";

describe("an HTTP task", () => {
  test("is a GET with a timeout of twenty seconds unless its inputs say otherwise", async () => {
    const { sent, outcome } = await run({ url: URL_, other: "ignored" });

    expect(sent).toMatchObject([
      {
        method: "GET",
        timeoutMs: 20_000,
        isConfidential: false,
        headers: {
          accept: "*/*",
          "accept-encoding": "identity",
          "idempotency-key": "one:k1",
          "user-agent": "fermata",
        },
      },
    ]);
    expect(sent[0]?.url.href).toBe(URL_);
    expect(sent[0]).not.toHaveProperty("body");
    expect(outcome).toEqual({
      kind: "completed",
      variables: { status: 200, headers: {}, body: null },
    });
  });

  test("takes method, headers, body and timeout from its inputs", async () => {
    const { sent } = await run({
      url: URL_,
      method: "post",
      headers: { "X-Shop": "berlin", "X-Number": 4, "X-None": null },
      body: { sku: "a", count: 2 },
      timeout: "PT40S",
    });

    expect(sent[0]).toMatchObject({
      method: "POST",
      timeoutMs: 40_000,
      headers: {
        "x-shop": "berlin",
        "x-number": "4",
        "content-type": "application/json",
        "content-length": "21",
      },
    });
    expect(sent[0]?.headers).not.toHaveProperty("x-none");
    expect(bodyOf(sent[0])).toBe('{"sku":"a","count":2}');
  });

  test("keeps an Idempotency-Key that its author has set", async () => {
    const { sent } = await run({ url: URL_, headers: { "Idempotency-Key": "mine" } });

    expect(sent[0]?.headers).toMatchObject({ "idempotency-key": "mine" });
  });

  test.each<[string, Json, string | undefined, string, string]>([
    ["a text", "hello", undefined, "text/plain; charset=utf-8", "hello"],
    [
      "a text that its author calls JSON",
      '{"a":1}',
      "application/json",
      "application/json",
      '{"a":1}',
    ],
    ["a list", [1, "a"], undefined, "application/json", '[1,"a"]'],
    ["a number", 1, undefined, "application/json", "1"],
    [
      "JSON of another kind",
      { a: 1 },
      "application/vnd.x+json",
      "application/vnd.x+json",
      '{"a":1}',
    ],
    [
      "a form",
      { a: "x y&z", b: 1, c: true, d: null },
      "application/x-www-form-urlencoded",
      "application/x-www-form-urlencoded",
      "a=x+y%26z&b=1&c=true",
    ],
  ])("sends %s", async (_, body, type, sentType, text) => {
    const headers = type === undefined ? {} : { "Content-Type": type };
    const { sent } = await run({ url: URL_, method: "PUT", headers, body });

    expect(bodyOf(sent[0])).toBe(text);
    expect(sent[0]?.headers["content-type"]).toBe(sentType);
  });

  test.each<[string, Answer, Json]>([
    ["JSON", { type: "application/json; charset=utf-8", body: '{"a":[1]}' }, { a: [1] }],
    ["JSON of another kind", { type: "application/problem+json", body: "[]" }, []],
    ["JSON that is none, as text", { type: "application/json", body: "{" }, "{"],
    ["text", { type: "text/html", body: "<p>" }, "<p>"],
    [
      "text of another character set",
      { type: "text/plain; charset=iso-8859-1", body: Buffer.from([0xe4]) },
      "ä",
    ],
    ["text of an unknown character set", { type: "text/plain; charset=klingon", body: "ä" }, "ä"],
    ["XML", { type: "application/atom+xml", body: "<a/>" }, "<a/>"],
    ["what does not say what it is, as text", { body: "ä" }, "ä"],
    ["anything else, as base64", { type: "image/png", body: Buffer.from([0, 255]) }, "AP8="],
    ["nothing", { status: 204, type: "application/json" }, null],
  ])("reads %s", async (_, answer, body) => {
    const { outcome } = await run({ url: URL_ }, answered(answer));

    expect(outcome).toMatchObject({ kind: "completed", variables: { body } });
  });

  test("reads JSON up to the depth limit of a result, and deeper JSON as text", async () => {
    const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    const read = async (levels: number) => {
      const answer = answered({ type: "application/json", body: nested(levels) });
      return (await run({ url: URL_ }, answer)).outcome;
    };

    expect(await read(MAX_RESULT_DEPTH - 1)).toMatchObject({
      kind: "completed",
      variables: { body: JSON.parse(nested(MAX_RESULT_DEPTH - 1)) },
    });
    for (const levels of [MAX_RESULT_DEPTH, 100_000]) {
      expect(await read(levels)).toMatchObject({ variables: { body: nested(levels) } });
    }
  });

  test.each([400, 404, 429, 500, 503, 599])(
    "treats %d as an error of the process",
    async (status) => {
      const answer = answered({ status, type: "application/json", body: '{"why":"so"}' });
      const { outcome } = await run({ url: `${URL_}?token=abc`, method: "DELETE" }, answer);

      expect(outcome).toEqual({
        kind: "failed",
        code: `HTTP_${status}`,
        message: `api.example.com answered ${status} As Said to DELETE /orders.`,
        variables: { status, headers: { "content-type": "application/json" }, body: { why: "so" } },
      });
    },
  );

  test.each([200, 204, 301, 304, 399])("completes with %d", async (status) => {
    const { outcome } = await run({ url: URL_ }, answered({ status }));

    expect(outcome).toMatchObject({ kind: "completed", variables: { status } });
  });

  test("uses up one retry when no response comes, and all of them when the call is not allowed", async () => {
    const unanswered = await run({ url: URL_ }, { kind: "failed", problem: "No answer came." });
    const refused = await run({ url: URL_ }, { kind: "refused", problem: "It is not allowed." });

    expect(unanswered.outcome).toEqual({ kind: "failed", message: "No answer came." });
    expect(refused.outcome).toEqual({ kind: "failed", message: "It is not allowed.", retries: 0 });
  });

  test("reports everything that is wrong with its inputs at once, and does not retry", async () => {
    const { outcome, sent } = await run({
      method: "FETCH",
      url: "ftp://example.com/?token=abc",
      headers: {
        Host: "a",
        "X A": "b",
        "X-List": [],
        "X-Lines": "a\r\nb",
        "x-twice": "1",
        "X-Twice": "2",
        Authorization: "Bearer secret:NOBODY secret:API_KEY",
      },
      body: { key: "secret:OTHER" },
      timeout: "PT41S",
    });

    expect(sent).toEqual([]);
    expect(outcome).toMatchObject({ kind: "failed", retries: 0 });
    for (const part of [
      '`method` is "FETCH"',
      '`url` is no http or https URL: "ftp://example.com/"',
      '"Host" is set by the engine',
      '"X A" is no name',
      '"X-List" is no text',
      '"X-Lines" has characters',
      '"X-Twice" is there twice',
      "secret NOBODY is not set up",
      "secret OTHER is not set up",
      '`timeout` is "PT41S"',
    ]) {
      expect(messageOf(outcome)).toContain(part);
    }
    expect(messageOf(outcome)).not.toContain("abc");
  });

  test.each<[string, Variables, string]>([
    ["no URL", {}, "`url` is missing"],
    ["a URL that is no text", { url: 1 }, "`url` is the number 1"],
    ["a relative URL", { url: "/orders" }, "`url` is no http or https URL"],
    ["headers that are a list", { url: URL_, headers: [] }, "`headers` is a list"],
    ["a timeout in numbers", { url: URL_, timeout: 5 }, "`timeout` is the number 5"],
    ["a timeout of months", { url: URL_, timeout: "P1M" }, "`timeout` is"],
    ["no time at all", { url: URL_, timeout: "PT0S" }, "`timeout` is"],
    ["a GET with a body", { url: URL_, body: "a" }, "A GET has no body"],
    [
      "a form with lists",
      {
        url: URL_,
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: { a: [] },
      },
      "A form is a context",
    ],
    ["a secret in the URL", { url: `${URL_}?key=secret:API_KEY` }, "would stand in logs"],
    [
      "a secret for another host",
      { url: "https://evil.example/", headers: { authorization: "secret:API_KEY" } },
      "API_KEY is not set up to go to https://evil.example",
    ],
    [
      "a secret in the clear",
      { url: "http://api.example.com/", headers: { authorization: "secret:API_KEY" } },
      "API_KEY is not set up to go to http://api.example.com",
    ],
  ])("refuses %s", async (_, input, problem) => {
    const { outcome, sent } = await run(input);

    expect(sent).toEqual([]);
    expect(outcome).toMatchObject({ kind: "failed", retries: 0 });
    expect(messageOf(outcome)).toContain(problem);
  });

  test("accepts inputs at each limit, and refuses one more", async () => {
    const most = (count: number): Variables =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, "a"]));
    const cases: readonly (readonly [Variables, boolean])[] = [
      [{ url: `https://api.example.com/${"x".repeat(MAX_URL_LENGTH - 24)}` }, true],
      [{ url: `https://api.example.com/${"x".repeat(MAX_URL_LENGTH - 23)}` }, false],
      [{ url: URL_, headers: most(MAX_HTTP_HEADERS) }, true],
      [{ url: URL_, headers: most(MAX_HTTP_HEADERS + 1) }, false],
      [{ url: URL_, headers: { a: "x".repeat(MAX_HTTP_HEADER_LENGTH - 1) } }, true],
      [{ url: URL_, headers: { a: "x".repeat(MAX_HTTP_HEADER_LENGTH) } }, false],
      [{ url: URL_, method: "PUT", body: "x".repeat(MAX_HTTP_BODY_BYTES) }, true],
      [{ url: URL_, method: "PUT", body: "x".repeat(MAX_HTTP_BODY_BYTES + 1) }, false],
    ];

    for (const [input, isFine] of cases) {
      expect((await run(input)).outcome.kind).toBe(isFine ? "completed" : "failed");
    }
  });
});

describe("a secret", () => {
  test("replaces its name in headers and in whole texts of the body", async () => {
    const { sent } = await run({
      url: URL_,
      method: "POST",
      headers: { Authorization: "Bearer secret:API_KEY", "X-Both": "secret:DIGITS,secret:LONGER" },
      body: { deep: [{ key: "secret:API_KEY" }], text: "not secret:API_KEY here" },
    });

    expect(sent[0]?.headers).toMatchObject({
      authorization: `Bearer ${API_KEY}`,
      "x-both": `12345678,${API_KEY}-and-more`,
    });
    expect(JSON.parse(bodyOf(sent[0]))).toEqual({
      deep: [{ key: API_KEY }],
      text: "not secret:API_KEY here",
    });
    expect(sent[0]?.isConfidential).toBe(true);
  });

  test("is encoded when it is part of a form", async () => {
    const { sent } = await run({
      url: URL_,
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: { client_secret: "secret:API_KEY" },
    });

    expect(new URLSearchParams(bodyOf(sent[0])).get("client_secret")).toBe(API_KEY);
  });

  test("is redacted in everything that comes back", async () => {
    const forms = [
      API_KEY,
      encodeURIComponent(API_KEY),
      JSON.stringify(API_KEY).slice(1, -1),
      Buffer.from(API_KEY).toString("base64"),
      `${API_KEY}-and-more`,
    ];
    const input = {
      url: URL_,
      headers: { authorization: "secret:API_KEY secret:LONGER", "x-digits": "secret:DIGITS" },
    };
    const echo = (type: string, body: string, status = 200): HttpOutcome => ({
      kind: "answered",
      answer: {
        status,
        reason: API_KEY,
        headers: { "content-type": type, "x-echo": `you sent ${API_KEY}` },
        body: Buffer.from(body),
      },
    });
    const json = JSON.stringify({ [API_KEY]: forms, number: 12345678, beside: 1 });
    const outcomes = [
      (await run(input, echo("application/json", json))).outcome,
      (await run(input, echo("text/plain", forms.join(" ")))).outcome,
      (await run(input, echo("application/json", `${forms.join(" ")} no JSON`))).outcome,
      (await run(input, echo("application/json", json, 401))).outcome,
      (await run(input, { kind: "failed", problem: `It broke at ${API_KEY}.` })).outcome,
    ];

    for (const outcome of outcomes) {
      const told = JSON.stringify(outcome);
      for (const form of [...forms, "12345678", "and-more"]) expect(told).not.toContain(form);
      expect(told).toContain("[secret API_KEY]");
    }
    const [first] = outcomes;
    expect(first).toMatchObject({ variables: { body: { beside: 1, number: "[secret DIGITS]" } } });
  });

  test("is redacted in bytes before they are encoded as base64", async () => {
    const { outcome } = await run(
      { url: URL_, headers: { authorization: "secret:API_KEY" } },
      answered({ type: "application/octet-stream", body: `\u0000${API_KEY}\u0000` }),
    );

    expect(outcome).toMatchObject({
      variables: { body: Buffer.from("\u0000[secret API_KEY]\u0000").toString("base64") },
    });
  });

  test.each([
    ["has no value", "secret:MISSING", "MISSING has no value here"],
    [
      "is too short to be found again",
      "secret:SHORT",
      `fewer than ${MIN_SECRET_LENGTH} characters`,
    ],
    ["has lines", "secret:LINES", "characters that no header can have"],
  ])("that %s prevents the call, and uses up a retry", async (_, value, problem) => {
    const { outcome, sent } = await run({ url: URL_, headers: { authorization: value } });

    expect(sent).toEqual([]);
    expect(outcome).not.toHaveProperty("retries");
    expect(messageOf(outcome)).toContain(problem);
    expect(messageOf(outcome)).not.toMatch(/1234567|line one/);
  });

  test("is not replaced inside a longer word", async () => {
    const { sent } = await run({
      url: URL_,
      method: "POST",
      headers: { "x-a": "topsecret:API_KEY" },
      body: ["secret:API_KEY!", "a secret:API_KEY"],
    });

    expect(sent[0]?.isConfidential).toBe(false);
  });
});

describe("settings of HTTP tasks", () => {
  test("are validated, and all errors reported at once", () => {
    const settings = {
      allowHosts: ["*"],
      allowPrivate: ["https://a/b"],
      secrets: { "NO NAME": ["api.example.com"], FINE: ["?"] },
    };
    const told = /secrets: "NO NAME" .*secrets\.FINE: "\?" .*allowHosts: "\*" .*allowPrivate: /;

    expect(() => parseHttpSettings(settings)).toThrow(told);
  });
});
