import { type Client, createClient } from "../lib/client/index.ts";
import type { Options } from "./command.ts";
import type { Terminal } from "./terminal.ts";
import { UsageError } from "./usage-error.ts";

/** Where an engine listens unless it was told otherwise. */
export const DEFAULT_URL = "http://127.0.0.1:7373";

/** The options of every command that talks to a server. */
export const SERVER_OPTIONS = {
  url: {
    type: "string",
    value: "URL",
    help: "the server; FERMATA_URL, or http://127.0.0.1:7373 unless said",
  },
  token: { type: "string", value: "TOKEN", help: "the server's bearer token; or FERMATA_TOKEN" },
} as const satisfies Options;

/** Which server to talk to, and as whom. */
export type Server = Readonly<{ url: string; token?: string }>;

type Given = Readonly<{ url?: string; token?: string }>;

/** Finds the server by option, then environment, then habit. */
export function serverOf(given: Given, { environment }: Pick<Terminal, "environment">): Server {
  const url = given.url ?? (environment.FERMATA_URL || DEFAULT_URL);
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
    throw new UsageError(`"${url}" is not the URL of a server. Write http://HOST:PORT.`);
  }
  const token = given.token ?? environment.FERMATA_TOKEN;
  return { url: url.replace(/\/+$/, ""), ...(token ? { token } : {}) };
}

/** A client of that server. */
export function clientFor(given: Given, terminal: Pick<Terminal, "environment">): Client {
  const { url, token } = serverOf(given, terminal);
  return createClient({
    baseUrl: url,
    ...(token !== undefined && { token }),
    fetch: async (...request) => {
      try {
        return await fetch(...request);
      } catch (cause) {
        throw new UnreachableError(url, cause);
      }
    },
  });
}

/** Nothing answered at all; what answered badly is an ApiError. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";

  constructor(url: string, cause: unknown) {
    const reason = reasonOf(cause);
    super(
      `No Fermata server answers at ${url}${reason}. Start one with \`npm start\` or \`fermata dev\`, or name another with --url.`,
      { cause },
    );
  }
}

/** Fetch hides what happened in the cause of its error; a refused connection needs no more words. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error) || !("code" in cause) || cause.code === "ECONNREFUSED") return "";
  return ` (${String(cause.code)})`;
}
