import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { ApiRequest, ApiResponse } from "../api/http.ts";
import { EngineError } from "../ports/engine-error.ts";

/** A server that listens; `close` lets pending responses finish. */
export type HttpServer = Readonly<{ url: string; close(): Promise<void> }>;

export type HttpServerOptions = Readonly<{
  answer: (request: ApiRequest) => Promise<ApiResponse>;
  /** Answers what Node's parser refuses: the router never sees it. */
  refuse: (error: Error) => ApiResponse;
  host: string;
  port: number;
  /** Bodies longer than this are cut off while they arrive; the router answers the rest. */
  maxBodyBytes: number;
}>;

/** Serves the router over HTTP, independent of the API. */
export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  const unsent = new WeakMap<Duplex, Set<ServerResponse>>();
  const serve = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const ofSocket = unsent.get(incoming.socket) ?? new Set();
    unsent.set(incoming.socket, ofSocket.add(outgoing));
    outgoing.once("close", () => ofSocket.delete(outgoing));
    respond(options, incoming, outgoing).catch((cause: unknown) => {
      outgoing.destroy(cause instanceof Error ? cause : undefined);
    });
  };
  const server = createServer(PARSING, serve);
  // An expectation that is not understood may be ignored.
  server.on("checkExpectation", serve);
  server.on("clientError", (error, socket) => {
    const refuse = () => {
      if (socket.writable) endWith(socket, options.refuse(error));
      else if (!socket.writableEnded) socket.destroy();
    };
    // Responses are sent in order: those to requests before the refused one come first.
    const before = [...(unsent.get(socket) ?? [])].findLast(({ req }) => req.complete);
    if (before === undefined) refuse();
    else before.once("close", refuse);
  });
  server.on("connect", (incoming, socket) => {
    const answered = options.answer(requestOf(incoming, new Uint8Array()));
    void answered.then((response) => endWith(socket, response));
  });
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return { url: `http://${host}:${port}`, close: () => close(server) };
}

/** Queries are part of the header: the router checks their length. */
export const MAX_HEADER_BYTES = 64 * 1_024;

/** A missing Host is refused here: Node would refuse it without a body. */
const PARSING = { maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false };

async function respond(
  { answer, refuse, maxBodyBytes }: HttpServerOptions,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const body = await readBody(incoming, maxBodyBytes);
  const lacksHost = incoming.headers.host === undefined && incoming.httpVersion === "1.1";
  const response = lacksHost
    ? refuse(new Error("The header Host is missing"))
    : await answer(requestOf(incoming, body));
  const bytes = bytesOf(response);
  // The router answers HEAD without a body: how long it would be is not known.
  const length = incoming.method === "HEAD" ? {} : { "content-length": bytes.length };
  const last = lacksHost ? { connection: "close" } : {};
  outgoing.writeHead(response.status, { ...response.headers, ...length, ...last });
  outgoing.end(bytes);
}

/** Writes a response where there is no request to respond to, and closes the connection. */
function endWith(socket: Duplex, response: ApiResponse): void {
  const bytes = bytesOf(response);
  const headers = { ...response.headers, "content-length": bytes.length, connection: "close" };
  const lines = [
    `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ""}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`);
  socket.once("error", () => socket.destroy());
  socket.end(Buffer.concat([head, bytes]), () => socket.destroy());
}

function requestOf(incoming: IncomingMessage, body: Uint8Array): ApiRequest {
  const url = incoming.url ?? "/";
  const mark = url.indexOf("?");
  return {
    method: incoming.method ?? "GET",
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? "" : url.slice(mark + 1),
    headers: flatHeaders(incoming),
    body,
  };
}

const bytesOf = ({ body }: ApiResponse): Uint8Array =>
  typeof body === "string" ? Buffer.from(body) : body;

/** One byte more than allowed is enough for the router to see that it is too much. */
async function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    if (size > maxBytes) continue;
    chunks.push(chunk);
    size += chunk.length;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes + 1);
}

function flatHeaders({ headers }: IncomingMessage): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : value,
    ]),
  );
}

function listen(server: Server, { host, port }: HttpServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => reject(cannotListen(host, port, cause)));
    server.listen({ host, port }, resolve);
  });
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  await closed;
}

function cannotListen(host: string, port: number, cause: Error): EngineError {
  const isTaken = "code" in cause && cause.code === "EADDRINUSE";
  return new EngineError("engine/misconfigured", {
    happened: isTaken ? "The port is in use" : `The server cannot listen: ${cause.message}`,
    where: `${host}:${port}`,
    fix: "Stop the other server, or choose another port with --port (0 picks a free one).",
    cause,
  });
}
