import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ApiRequest, ApiResponse } from "../api/http.ts";
import { EngineError } from "../ports/engine-error.ts";

/** A server that listens; `close` lets pending responses finish. */
export type HttpServer = Readonly<{ url: string; close(): Promise<void> }>;

export type HttpServerOptions = Readonly<{
  answer: (request: ApiRequest) => Promise<ApiResponse>;
  host: string;
  port: number;
  /** Bodies longer than this are cut off while they arrive; the router answers the rest. */
  maxBodyBytes: number;
}>;

/** Serves the router over HTTP, independent of the API. */
export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (incoming, outgoing) => {
    respond(options, incoming, outgoing).catch((cause: unknown) => {
      outgoing.destroy(cause instanceof Error ? cause : undefined);
    });
  });
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return { url: `http://${host}:${port}`, close: () => close(server) };
}

/** Queries are part of the header: the router checks their length. */
const MAX_HEADER_BYTES = 64 * 1_024;

async function respond(
  { answer, maxBodyBytes }: HttpServerOptions,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const body = await readBody(incoming, maxBodyBytes);
  const url = incoming.url ?? "/";
  const mark = url.indexOf("?");
  const response = await answer({
    method: incoming.method ?? "GET",
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? "" : url.slice(mark + 1),
    headers: flatHeaders(incoming),
    body,
  });
  const bytes = typeof response.body === "string" ? Buffer.from(response.body) : response.body;
  // The router answers HEAD without a body: how long it would be is not known.
  const length = incoming.method === "HEAD" ? {} : { "content-length": bytes.length };
  outgoing.writeHead(response.status, { ...response.headers, ...length });
  outgoing.end(bytes);
}

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
