import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type NodeHttpOptions, nodeHttp } from "../../../../lib/adapters/node/http/http.ts";
import type { Resolve } from "../../../../lib/adapters/node/http/target.ts";
import { MAX_HTTP_BODY_BYTES, MAX_REDIRECTS } from "../../../../lib/definition/limits.ts";
import { parseHostRules } from "../../../../lib/ports/host-rules.ts";
import type { HttpOutcome, HttpRequest } from "../../../../lib/ports/http.ts";
import { aService, TEST_CA } from "../../../support/http-service.ts";

const LOCAL = ["http://127.0.0.1:*", "http://localhost:*", "http://service.test:*"];
const toLoopback: Resolve = async () => [{ address: "127.0.0.1", family: 4 }];

function send(
  url: string,
  request: Partial<HttpRequest> = {},
  { allowPrivate = LOCAL, ...options }: Partial<NodeHttpOptions> & { allowPrivate?: string[] } = {},
): Promise<HttpOutcome> {
  const http = nodeHttp({
    reach: { allowPrivate: parseHostRules(allowPrivate).rules },
    resolve: toLoopback,
    ...options,
  });
  return http.send({
    method: "GET",
    url: new URL(url),
    headers: {},
    isConfidential: false,
    timeoutMs: 10_000,
    signal: new AbortController().signal,
    ...request,
  });
}

const textOf = (outcome: HttpOutcome): string =>
  outcome.kind === "answered" ? Buffer.from(outcome.answer.body).toString() : outcome.problem;

describe("a request", () => {
  test("is sent as it is, and its answer comes back", async () => {
    const service = await aService({
      status: 201,
      headers: { "X-Made": "yes", "set-cookie": ["a=1", "b=2"] },
      body: "made",
    });
    const outcome = await send(`http://127.0.0.1:${service.port}/orders?new=1#part`, {
      method: "POST",
      headers: { "x-from": "test", "content-length": "5" },
      body: Buffer.from("order"),
    });

    expect(service.received).toMatchObject([
      {
        method: "POST",
        path: "/orders?new=1",
        body: "order",
        headers: { "x-from": "test", host: `127.0.0.1:${service.port}` },
      },
    ]);
    expect(outcome).toMatchObject({
      kind: "answered",
      answer: { status: 201, reason: "Created", headers: { "x-made": "yes" } },
    });
    expect(textOf(outcome)).toBe("made");
    expect(outcome).not.toHaveProperty("answer.headers.set-cookie");
  });

  test("goes to the checked address, and sends the host name to the server and for its certificate", async () => {
    const service = await aService({ body: "hello" }, { secure: true });
    const url = `https://Service.Test.:${service.port}/`;
    const outcome = await send(url, {}, { ca: TEST_CA, allowPrivate: ["service.test:*"] });

    expect(textOf(outcome)).toBe("hello");
    expect(service.received).toMatchObject([
      { servername: "service.test", headers: { host: `service.test:${service.port}` } },
    ]);
  });

  test("trusts neither a certificate for another name nor one without a known issuer", async () => {
    const service = await aService({ body: "hello" }, { secure: true });
    const url = `https://other.test:${service.port}/`;
    const other = await send(url, {}, { ca: TEST_CA, allowPrivate: ["other.test:*"] });
    const unknown = await send(
      `https://service.test:${service.port}/`,
      {},
      { allowPrivate: ["service.test:*"] },
    );

    expect(other).toMatchObject({ kind: "failed" });
    expect(textOf(other)).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
    expect(textOf(unknown)).toContain("DEPTH_ZERO_SELF_SIGNED_CERT");
    expect(service.received).toEqual([]);
  });

  test("resolves a name once, so that a later change of its address has no effect", async () => {
    const service = await aService({ body: "hello" });
    let asked = 0;
    const rebinding: Resolve = async () => {
      asked += 1;
      return [{ address: asked === 1 ? "127.0.0.1" : "169.254.169.254", family: 4 }];
    };
    const outcome = await send(`http://service.test:${service.port}/`, {}, { resolve: rebinding });

    expect(textOf(outcome)).toBe("hello");
    expect(asked).toBe(1);
  });

  test("is not sent to an address that is not allowed", async () => {
    const service = await aService({ body: "hello" });
    const outcome = await send(
      `http://127.0.0.1:${service.port}/?token=abc`,
      {},
      { allowPrivate: [] },
    );

    expect(outcome.kind).toBe("refused");
    expect(textOf(outcome)).not.toContain("abc");
    expect(service.received).toEqual([]);
  });

  test("ignores proxies of the environment", async () => {
    const proxy = await aService({ body: "proxied" });
    const service = await aService({ body: "direct" });
    for (const name of ["HTTP_PROXY", "http_proxy", "ALL_PROXY"]) {
      vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`);
    }
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    onTestFinished(() => void vi.unstubAllEnvs());
    const outcome = await send(`http://127.0.0.1:${service.port}/`);

    expect(textOf(outcome)).toBe("direct");
    expect(proxy.received).toEqual([]);
  });
});

describe("a response", () => {
  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("that is compressed is decompressed: %s", async (encoding, pack) => {
    const service = await aService({
      headers: { "content-encoding": encoding },
      body: pack(Buffer.from("hello")),
    });

    expect(textOf(await send(`http://127.0.0.1:${service.port}/`))).toBe("hello");
  });

  test.each([
    ["gzip", "HEAD", 200],
    ["br", "GET", 204],
    ["deflate", "GET", 200],
  ])("without a compressed body is empty: %s, %s, %i", async (encoding, method, status) => {
    const service = await aService({ status, headers: { "content-encoding": encoding } });

    const outcome = await send(`http://127.0.0.1:${service.port}/`, { method });

    expect(outcome).toMatchObject({ kind: "answered", answer: { status } });
    expect(textOf(outcome)).toBe("");
  });

  test("may have a million bytes, and not one more", async () => {
    const service = await aService(({ path }) => ({ body: "x".repeat(Number(path.slice(1))) }));
    const most = await send(`http://127.0.0.1:${service.port}/${MAX_HTTP_BODY_BYTES}`);
    const more = await send(`http://127.0.0.1:${service.port}/${MAX_HTTP_BODY_BYTES + 1}`);

    expect(textOf(most)).toHaveLength(MAX_HTTP_BODY_BYTES);
    expect(more).toEqual({
      kind: "failed",
      problem: `The answer to GET http://127.0.0.1:${service.port}/${MAX_HTTP_BODY_BYTES + 1} has more than ${MAX_HTTP_BODY_BYTES} bytes.`,
    });
  });

  test("is measured after decompression", async () => {
    const service = await aService({
      headers: { "content-encoding": "gzip" },
      body: gzipSync(Buffer.alloc(50 * MAX_HTTP_BODY_BYTES)),
    });

    expect(textOf(await send(`http://127.0.0.1:${service.port}/`))).toContain("more than");
  });

  test("that breaks off is a failure", async () => {
    const service = await aService({
      raw: (_, response) => {
        response.writeHead(200, { "content-length": "100" });
        response.write("half", () => response.destroy());
      },
    });

    expect(await send(`http://127.0.0.1:${service.port}/`)).toMatchObject({ kind: "failed" });
  });

  test("that is compressed and corrupt is a failure", async () => {
    const service = await aService({ headers: { "content-encoding": "gzip" }, body: "no gzip" });

    expect(await send(`http://127.0.0.1:${service.port}/`)).toMatchObject({ kind: "failed" });
  });

  test("whose headers are endless is a failure", async () => {
    const service = await aService({ headers: { "x-long": "x".repeat(20_000) }, body: "hello" });

    expect(textOf(await send(`http://127.0.0.1:${service.port}/`))).toContain(
      "HPE_HEADER_OVERFLOW",
    );
  });

  test("that does not come in time is a failure", async () => {
    const service = await aService({ raw: () => {} });
    const url = `http://127.0.0.1:${service.port}/slow?token=abc`;

    expect(await send(url, { timeoutMs: 50 })).toEqual({
      kind: "failed",
      problem: `GET http://127.0.0.1:${service.port}/slow was not answered within 50 ms.`,
    });
  });

  test("is not waited for after the caller aborts", async () => {
    const controller = new AbortController();
    const service = await aService({ raw: () => controller.abort() });

    expect(await send(`http://127.0.0.1:${service.port}/`, { signal: controller.signal })).toEqual({
      kind: "failed",
      problem: "The call was broken off.",
    });
  });

  test("that ends with a closed connection is a failure with the reason", async () => {
    const { port } = await aService({ raw: (request) => request.socket.destroy() });

    expect(textOf(await send(`http://127.0.0.1:${port}/`))).toMatch(/failed: .*ECONNRESET/);
  });

  test("is not waited for while a name is being resolved", async () => {
    const never: Resolve = () => new Promise(() => {});

    expect(
      textOf(await send("http://service.test:1/", { timeoutMs: 20 }, { resolve: never })),
    ).toContain("not answered within 20 ms");
  });
});

describe("a redirect", () => {
  test.each([
    [301, "POST", "GET", ""],
    [302, "POST", "GET", ""],
    [303, "PUT", "GET", ""],
    [303, "HEAD", "HEAD", ""],
    [302, "PUT", "PUT", "order"],
    [307, "POST", "POST", "order"],
    [308, "POST", "POST", "order"],
  ])("%d of a %s is followed by a %s", async (status, method, then, body) => {
    const service = await aService(({ path }) =>
      path === "/old" ? { status, headers: { location: "new?x=1" } } : { body: "arrived" },
    );
    const sent = method === "HEAD" ? {} : { body: Buffer.from("order") };
    const outcome = await send(`http://127.0.0.1:${service.port}/old`, {
      method,
      headers: method === "HEAD" ? {} : { "content-type": "text/plain", "content-length": "5" },
      ...sent,
    });

    expect(outcome).toMatchObject({ kind: "answered", answer: { status: 200 } });
    expect(service.received[1]).toMatchObject({ method: then, path: "/new?x=1", body });
    expect(service.received[1]?.headers["content-type"]).toBe(
      body === "" ? undefined : "text/plain",
    );
  });

  test("keeps its headers on the same origin, and only harmless ones on another", async () => {
    const other = await aService({ body: "there" });
    const service = await aService(({ path }) => ({
      status: 307,
      headers: { location: path === "/a" ? "/b" : `http://127.0.0.1:${other.port}/` },
    }));
    await send(`http://127.0.0.1:${service.port}/a`, {
      headers: {
        authorization: "Bearer abc",
        cookie: "a=1",
        "x-api-key": "abc",
        accept: "text/plain",
        "idempotency-key": "k",
      },
    });

    expect(service.received[1]?.headers).toMatchObject({ authorization: "Bearer abc" });
    const { host: _, connection: __, ...left } = other.received[0]?.headers ?? {};
    expect(left).toEqual({ accept: "text/plain", "idempotency-key": "k" });
  });

  test("to another origin is not followed with secrets; on the same origin it is", async () => {
    const other = await aService({ body: "there" });
    const service = await aService(({ path }) =>
      path === "/c"
        ? { body: "here" }
        : {
            status: 307,
            headers: { location: path === "/a" ? "/c" : `http://127.0.0.1:${other.port}/` },
          },
    );
    const here = await send(`http://127.0.0.1:${service.port}/a`, { isConfidential: true });
    const away = await send(`http://127.0.0.1:${service.port}/b`, { isConfidential: true });

    expect(textOf(here)).toBe("here");
    expect(away.kind).toBe("refused");
    expect(other.received).toEqual([]);
  });

  test.each([
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]:1/",
    "http://2130706434:1/",
    "http://10.0.0.1/",
    "https://user:pass@example.com/",
    "file:///etc/passwd",
    "http://example.com/",
    "//192.168.0.1/",
  ])("is checked like a first request: %s is refused", async (location) => {
    const service = await aService({ status: 302, headers: { location } });
    const outcome = await send(`http://127.0.0.1:${service.port}/`);

    expect(outcome.kind).toBe("refused");
    expect(service.received).toHaveLength(1);
  });

  test("to a name is checked by the address of that name", async () => {
    const service = await aService(({ path }) =>
      path === "/" ? { status: 302, headers: { location: "https://rebound.example/" } } : {},
    );
    const resolve: Resolve = async () => [{ address: "10.0.0.1", family: 4 }];

    expect((await send(`http://127.0.0.1:${service.port}/`, {}, { resolve })).kind).toBe("refused");
  });

  test("is followed five times and no more", async () => {
    const service = await aService(({ path }) => {
      const left = Number(path.slice(1));
      return left === 0
        ? { body: "arrived" }
        : { status: 302, headers: { location: `/${left - 1}` } };
    });
    const most = await send(`http://127.0.0.1:${service.port}/${MAX_REDIRECTS}`);
    const more = await send(`http://127.0.0.1:${service.port}/${MAX_REDIRECTS + 1}`);

    expect(textOf(most)).toBe("arrived");
    expect(more).toMatchObject({ kind: "failed" });
    expect(textOf(more)).toContain(`redirects more than ${MAX_REDIRECTS} times`);
  });

  test("without a valid location is not followed, and one without a location is the response", async () => {
    const nowhere = await aService({ status: 302, headers: { location: "http://" } });
    const none = await aService({ status: 304 });

    expect((await send(`http://127.0.0.1:${nowhere.port}/`)).kind).toBe("refused");
    expect(await send(`http://127.0.0.1:${none.port}/`)).toMatchObject({
      kind: "answered",
      answer: { status: 304 },
    });
  });
});
