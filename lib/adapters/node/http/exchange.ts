/**
 * One request and its answer, on a connection of its own to an address that was checked. Node would
 * resolve the name again by itself; the `lookup` that it is given answers from the check instead.
 * No proxy of the environment stands between: it would resolve the name once more.
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
  /** Whether an answer of this status is read to its end. */
  isRead: (status: number) => boolean;
}>;

/** Sends the request and reads the answer; throws when no whole answer comes. */
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

/** More came than is kept. */
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
  // An address is no name that a server could be asked for.
  const servername = isIP(host) === 0 ? host : "";
  const trust = ca === undefined ? {} : { ca };
  // Said, because a variable of the environment could turn it off for the whole process.
  const tls = { ...trust, servername, rejectUnauthorized: true };
  return requestSecurely({ ...common, ...tls, agent: new HttpsAgent() });
}

/** Answers every question for a name with what was checked. */
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
    // Stays, so that what goes wrong after the answer has its end is nobody's surprise.
    sent.on("error", reject);
    sent.on("upgrade", (_message, socket) => {
      socket.destroy();
      reject(new Error("The service wants to speak something else than HTTP."));
    });
    sent.end(body);
  });
}

/** Cookies are credentials, which have no place in an instance; the others are about the connection. */
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

/** Nobody asked for a packed answer; some services pack everything, and say so of nothing as well. */
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
      throw new Error("The answer is packed in a way that nobody asked for.");
  }
}

/** Whoever reads the end of the line hears of what went wrong. */
const ignore = (): void => {};
