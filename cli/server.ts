import { readFileSync } from "node:fs";
import { join } from "node:path";
import { awsRegionOf, awsSigner } from "../lib/client/aws/index.ts";
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
  aws: {
    type: "boolean",
    help: "sign as your AWS credentials; by itself for an API Gateway URL without a token",
  },
  region: {
    type: "string",
    value: "REGION",
    help: "of the signature; as the URL says, or AWS_REGION unless said",
  },
  local: { type: "boolean", help: "the deployment that `npm run local:up` left in this folder" },
} as const satisfies Options;

/** Which server to talk to, and as whom. */
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

/** Finds the server by option, then environment, then habit. */
export function serverOf(given: Given, terminal: Surroundings): Server {
  const url = urlOf(given, terminal);
  if (given.aws && given.token !== undefined) {
    throw new UsageError("--aws and --token are two answers to who calls. Give one of them.");
  }
  const token = given.aws
    ? undefined
    : (given.token ?? (terminal.environment.FERMATA_TOKEN || undefined));
  const isSigned = given.aws || (token === undefined && awsRegionOf(url) !== undefined);
  if (given.region !== undefined && !isSigned) {
    throw new UsageError("--region is for signed requests. Add --aws, or leave it out.");
  }
  return {
    url: url.replace(/\/+$/, ""),
    ...(token !== undefined && { token }),
    ...(isSigned && { signedFor: regionFor(url, given, terminal) }),
  };
}

function urlOf(given: Given, { environment }: Surroundings): string {
  if (given.local && given.url !== undefined) {
    throw new UsageError("--local and --url name two servers. Give one of them.");
  }
  const url = given.local ? localUrl() : (given.url ?? (environment.FERMATA_URL || DEFAULT_URL));
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? "")) return url;
  throw new UsageError(`"${url}" is not the URL of a server. Write http://HOST:PORT.`);
}

/** Where the local deployment says that it is. */
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
    `--local: ${file} names no deployment. Make one with \`npm run local:up\`, in the same folder.`,
    { cause },
  );
}

function regionFor(url: string, { region }: Given, { environment }: Surroundings): string {
  const { AWS_REGION, AWS_DEFAULT_REGION } = environment;
  const found = region ?? awsRegionOf(url) ?? (AWS_REGION || AWS_DEFAULT_REGION);
  if (found) return found;
  throw new UsageError(
    `${url} does not say in which AWS region it is. Add --region, or set AWS_REGION.`,
  );
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
