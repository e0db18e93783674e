// What the router never sees, because Node's HTTP parser refuses it, is answered like everything else.
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type * as z from "zod";
import { problem } from "../../lib/api/shapes/problem.ts";
import { MAX_HEADER_BYTES } from "../../lib/embedded/http-server.ts";
import { serveEngine } from "../../lib/embedded/index.ts";
import { refusedRequest } from "../../lib/embedded/refused-request.ts";
import { anEngine } from "../support/embedded.ts";

const HOST = "Host: localhost\r\n";
/** So that the connection is closed behind the response. */
const LAST = "Connection: close\r\n";
const CHUNKED = `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n`;

describe("a method that no path has", () => {
  test.each(["TRACE", "PROPFIND", "QUERY", "CONNECT"])(
    "is answered with 405: %s",
    async (method) => {
      const port = await aServer();

      const [answer] = await exchange(port, `${method} /v1/health HTTP/1.1\r\n${HOST}${LAST}\r\n`);

      expect(answer).toMatchObject({
        status: 405,
        problem: { status: 405, code: "request/method-not-allowed", instance: "/v1/health" },
      });
      expect(answer?.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    },
  );

  test.each(["PROPFIND", "CONNECT"])(
    "is answered with 404 where there is no path: %s",
    async (method) => {
      const port = await aServer();

      const [answer] = await exchange(port, `${method} /nowhere HTTP/1.1\r\n${HOST}${LAST}\r\n`);

      expect(answer).toMatchObject({ status: 404, problem: { code: "request/not-found" } });
    },
  );

  test("is answered with 400 where Node's parser does not know it", async () => {
    const port = await aServer();

    for (const line of ["BREW /v1/health", "BREW /nowhere", "get /v1/health"]) {
      const [answer] = await exchange(port, `${line} HTTP/1.1\r\n${HOST}\r\n`);

      expect(answer).toMatchObject({ status: 400, problem: { code: "request/invalid" } });
      expect(answer?.problem.detail).toContain("Use a method");
    }
  });
});

describe("a request that Node's parser refuses", () => {
  const body = `POST /v1/recover HTTP/1.1\r\n${HOST}${CHUNKED}\r\n`;
  test.each([
    ["no HTTP", "hello\r\n\r\n", 400, "request/invalid"],
    ["another version of HTTP", `GET / HTTP/3.0\r\n${HOST}\r\n`, 400, "request/invalid"],
    ["no Host", "GET /v1/health HTTP/1.1\r\n\r\n", 400, "request/invalid"],
    ["a bad header", `GET / HTTP/1.1\r\n${HOST}a b: c\r\n\r\n`, 400, "request/invalid"],
    ["a bad chunk", `${body}zz\r\n`, 400, "request/invalid"],
    ["long extensions", `${body}1;${"x".repeat(20_000)}\r\n`, 413, "request/body-too-large"],
    [
      "long headers",
      `GET /v1/health HTTP/1.1\r\n${HOST}X: ${"x".repeat(MAX_HEADER_BYTES)}\r\n\r\n`,
      431,
      "request/header-too-large",
    ],
    [
      "many headers",
      `GET /v1/health HTTP/1.1\r\n${HOST}${LAST}${"X: 1\r\n".repeat(999)}\r\n`,
      431,
      "request/header-too-large",
    ],
  ])("is answered with a problem document: %s", async (_, text, status, code) => {
    const port = await aServer();

    const [answer] = await exchange(port, text);

    expect(answer).toMatchObject({ status, problem: { status, code } });
    expect(answer?.headers.get("connection")).toBe("close");
  });

  test("may have as many headers as the refusal says", async () => {
    const port = await aServer();
    // Host and Connection are the other two.
    const headers = HOST + LAST + "X: 1\r\n".repeat(998);

    const [answer] = await exchange(port, `GET /v1/health HTTP/1.1\r\n${headers}\r\n`);

    expect(answer?.status).toBe(200);
  });

  test("is told in words about HTTP only", async () => {
    const port = await aServer();

    const [answer] = await exchange(port, `GET / SIP/2.0\r\n${HOST}\r\n`);

    expect(answer?.problem.detail).toMatch(/not valid HTTP\/1\.1: Expected HTTP\/\W/);
  });

  test("is answered with 408 if it does not arrive in time", () => {
    const late = Object.assign(new Error("Request timeout"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });

    const { status, body } = refusedRequest(late);

    expect(status).toBe(408);
    expect(JSON.parse(String(body))).toMatchObject({ status: 408, code: "request/timeout" });
  });

  test("is answered behind the requests that were sent before it", async () => {
    const port = await aServer();
    const health = `GET /v1/health HTTP/1.1\r\n${HOST}\r\n`;

    const answers = await exchange(port, `${health}${health}BREW / HTTP/1.1\r\n${HOST}\r\n`);

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400]);
  });

  test("does not keep the server from answering others", async () => {
    const port = await aServer();
    await exchange(port, "hello\r\n\r\n");

    expect((await fetch(`http://127.0.0.1:${port}/v1/health`)).status).toBe(200);
  });
});

async function aServer(): Promise<number> {
  const server = await serveEngine(await anEngine(), { port: 0 });
  onTestFinished(() => server.close());
  return Number(new URL(server.url).port);
}

/** Sends the text, and parses every response until the server closes the connection. */
async function exchange(port: number, text: string) {
  const socket = connect(port, "127.0.0.1");
  socket.write(text);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return responsesIn(Buffer.concat(chunks).toString());
}

function responsesIn(text: string): readonly Answer[] {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return [];
  const [line = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Headers(lines.map((it) => it.split(": ", 2) as [string, string]));
  const rest = text.slice(end + 4);
  const length = Number(headers.get("content-length"));
  const status = Number(line.split(" ")[1]);
  const sent: unknown = JSON.parse(rest.slice(0, length));
  const told = status < 400 ? {} : problem.parse(sent);
  return [{ status, headers, problem: told }, ...responsesIn(rest.slice(length))];
}

type Answer = Readonly<{
  status: number;
  headers: Headers;
  problem: Partial<z.output<typeof problem>>;
}>;
