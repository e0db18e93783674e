/**
 * One request and its response, on a new connection to an address that was checked. Node would
 * resolve the name again by itself; the given `lookup` returns the checked addresses instead.
 * Proxies of the environment are not used: they would resolve the name once more.
 */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request } from "node:http";
import { Agent as HttpsAgent, request as requestSecurely } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { MAX_HTTP_ANSWER_HEADER_BYTES, MAX_HTTP_BODY_BYTES } from "../../../definition/limits.ts";
import type { HttpAnswer } from "../../../ports/http.ts";
import type { Address } from "./target.ts";

export type Exchange = Readonly<{
  url: URL;
  /** Without brackets, and without a dot at its end. */
  host: string;
  addresses: readonly Address[];
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: Uint8Array;
  signal: AbortSignal;
  /** Certificates to trust instead of the usual ones. */
  ca?: string;
  /** Whether the body of a response with this status is read. */
  isRead: (status: number) => boolean;
}>;

/** Sends the request and reads the response; throws when it is incomplete. */
export async function exchange(what: Exchange): Promise<HttpAnswer> {
  const sent = open(what);
  try {
    const message = await answerTo(sent, what.body);
    const { statusCode: status = 0, statusMessage: reason = "" } = message;
    const headers = headersOf(message);
    if (!what.isRead(status)) return { status, reason, headers, body: new Uint8Array() };
    return { status, reason, headers, body: await bodyOf(message) };
  } finally {
    sent.destroy();
  }
}

/** The response is larger than the limit. */
export class AnswerTooLarge extends Error {
  override readonly name = "AnswerTooLarge";
}

function open({ url, host, addresses, method, headers, signal, ca }: Exchange): ClientRequest {
  const common = {
    hostname: host,
    port: url.port,
    path: `${url.pathname}${url.search}`,
    method,
    headers: { ...headers, host: url.host.replace(/\.(?=:|$)/, "") },
    lookup: pinned(addresses),
    autoSelectFamily: true,
    maxHeaderSize: MAX_HTTP_ANSWER_HEADER_BYTES,
    signal,
  };
  if (url.protocol === "http:") return request({ ...common, agent: new HttpAgent() });
  // TLS has no server name for an IP address.
  const servername = isIP(host) === 0 ? host : "";
  const trust = ca === undefined ? {} : { ca };
  // Explicit, because an environment variable could turn it off for the whole process.
  const tls = { ...trust, servername, rejectUnauthorized: true };
  return requestSecurely({ ...common, ...tls, agent: new HttpsAgent() });
}

/** Answers every lookup with the checked addresses. */
function pinned(addresses: readonly Address[]): LookupFunction {
  return (_host, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(null, first?.address ?? "", first?.family ?? 0);
  };
}

function answerTo(sent: ClientRequest, body: Uint8Array | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.on("response", resolve);
    // Stays attached, so that an error after the end of the response is not unhandled.
    sent.on("error", reject);
    sent.on("upgrade", (_message, socket) => {
      socket.destroy();
      reject(new Error("The service wants to speak something else than HTTP."));
    });
    sent.end(body);
  });
}

/** Cookies are credentials, which do not belong in an instance; the others are about the connection. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "set-cookie",
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

function headersOf({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const kept = Object.entries(headers).filter(([name]) => !LEFT_OUT.has(name));
  return Object.fromEntries(
    kept.map(([name, value = ""]) => [name, typeof value === "string" ? value : value.join(", ")]),
  );
}

async function bodyOf(message: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of unpacked(message)) {
    size += chunk.byteLength;
    if (size > MAX_HTTP_BODY_BYTES) throw new AnswerTooLarge();
    chunks.push(chunk);
  }
  if (!message.complete) throw new Error("The connection broke before the answer had its end.");
  return Buffer.concat(chunks);
}

/** Compression was not requested; some services compress anyway, or declare it for an empty body. */
async function* unpacked(message: IncomingMessage): AsyncGenerator<Uint8Array> {
  const unpack = unpackerOf(message);
  const rest: AsyncIterator<Uint8Array> = message[Symbol.asyncIterator]();
  const first = await rest.next();
  if (first.done) return;
  const whole = Readable.from(withFirst(first.value, rest));
  yield* unpack === undefined ? whole : pipeline(whole, unpack, ignore);
}

async function* withFirst(
  first: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

function unpackerOf({ headers }: IncomingMessage): Transform | undefined {
  switch (headers["content-encoding"]?.trim().toLowerCase() ?? "identity") {
    case "identity":
    case "":
      return undefined;
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      throw new Error("The response has a content encoding that is not supported.");
  }
}

/** The reader at the end of the pipeline gets the error. */
const ignore = (): void => {};
