import { readFileSync } from "node:fs";
import { join } from "node:path";
import { awsRegionOf, awsSigner } from "../lib/client/aws/index.ts";
import { type Client, createClient } from "../lib/client/index.ts";
import type { Options } from "./command.ts";
import type { Terminal } from "./terminal.ts";
import { UsageError } from "./usage-error.ts";

/** Where an engine listens by default. */
export const DEFAULT_URL = "http://127.0.0.1:7373";

/** The options of every command that calls a server. */
export const SERVER_OPTIONS = {
  url: {
    type: "string",
    value: "URL",
    help: "the server; default FERMATA_URL, then http://127.0.0.1:7373",
  },
  token: {
    type: "string",
    value: "TOKEN",
    help: "the server's bearer token; default FERMATA_TOKEN",
  },
  aws: {
    type: "boolean",
    help: "sign with your AWS credentials; default for API Gateway URLs without a token",
  },
  region: {
    type: "string",
    value: "REGION",
    help: "the region to sign for; default the one in the URL, then AWS_REGION",
  },
  local: { type: "boolean", help: "the deployment that `npm run local:up` made in this folder" },
} as const satisfies Options;

/** Which server to call, and how to authenticate. */
export type Server = Readonly<{
  url: string;
  token?: string;
  /** Requests are signed for this region. */
  signedFor?: string;
}>;

type Given = Readonly<{
  url?: string;
  token?: string;
  aws?: boolean;
  region?: string;
  local?: boolean;
}>;

type Surroundings = Pick<Terminal, "environment">;

/** Finds the server by option, then environment, then default. */
export function serverOf(given: Given, terminal: Surroundings): Server {
  const url = urlOf(given, terminal);
  if (given.aws && given.token !== undefined) {
    throw new UsageError("--aws and --token cannot be combined. Use one of them.");
  }
  const token = given.aws
    ? undefined
    : (given.token ?? (terminal.environment.FERMATA_TOKEN || undefined));
  const isSigned = given.aws || (token === undefined && awsRegionOf(url) !== undefined);
  if (given.region !== undefined && !isSigned) {
    throw new UsageError("--region applies to signed requests only. Add --aws, or omit --region.");
  }
  return {
    url: url.replace(/\/+$/, ""),
    ...(token !== undefined && { token }),
    ...(isSigned && { signedFor: regionFor(url, given, terminal) }),
  };
}

function urlOf(given: Given, { environment }: Surroundings): string {
  if (given.local && given.url !== undefined) {
    throw new UsageError("--local and --url cannot be combined. Use one of them.");
  }
  const url = given.local ? localUrl() : (given.url ?? (environment.FERMATA_URL || DEFAULT_URL));
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? "")) return url;
  throw new UsageError(`"${url}" is not the URL of a server. Write http://HOST:PORT.`);
}

/** The URL of the local deployment, from its state file. */
function localUrl(): string {
  const file = join(".fermata", "local.json");
  try {
    const { apiUrl } = parseLocal(readFileSync(file, "utf8"));
    if (typeof apiUrl === "string") return apiUrl;
  } catch (cause) {
    throw noLocal(file, cause);
  }
  throw noLocal(file);
}

function parseLocal(text: string): Readonly<{ apiUrl?: unknown }> {
  return JSON.parse(text) as Readonly<{ apiUrl?: unknown }>;
}

function noLocal(file: string, cause?: unknown): UsageError {
  return new UsageError(
    `--local: ${file} describes no deployment. Make one with \`npm run local:up\`, in the same folder.`,
    { cause },
  );
}

function regionFor(url: string, { region }: Given, { environment }: Surroundings): string {
  const { AWS_REGION, AWS_DEFAULT_REGION } = environment;
  const found = region ?? awsRegionOf(url) ?? (AWS_REGION || AWS_DEFAULT_REGION);
  if (found) return found;
  throw new UsageError(`${url} does not contain an AWS region. Add --region, or set AWS_REGION.`);
}

/** A client of that server. */
export function clientFor(given: Given, terminal: Surroundings): Client {
  const { url, token, signedFor } = serverOf(given, terminal);
  return createClient({
    baseUrl: url,
    ...(token !== undefined && { token }),
    ...(signedFor !== undefined && { sign: awsSigner({ region: signedFor }) }),
    fetch: async (...request) => {
      try {
        return await fetch(...request);
      } catch (cause) {
        throw new UnreachableError(url, cause);
      }
    },
  });
}

/** The server did not respond at all; an error response is an ApiError. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";

  constructor(url: string, cause: unknown) {
    const reason = reasonOf(cause);
    super(
      `No Fermata server answers at ${url}${reason}. Start one with \`npm start\` or \`fermata dev\`, or choose another with --url.`,
      { cause },
    );
  }
}

/** Fetch reports the reason in the cause of its error; a refused connection needs no explanation. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error) || !("code" in cause) || cause.code === "ECONNREFUSED") return "";
  return ` (${String(cause.code)})`;
}
