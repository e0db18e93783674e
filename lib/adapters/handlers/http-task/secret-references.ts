/**
 * Secrets by reference. `secret:NAME` may stand anywhere in the value of a header, as in `Bearer
 * secret:NAME`, or be a whole text in the body, at any depth. It is replaced just before the
 * request is sent.
 *
 * The settings of the installation list the hosts that each secret may be sent to. Models and
 * customer data, which may contain `secret:NAME`, cannot send it anywhere else.
 */
import type { Json } from "../../../definition/json.ts";
import { MIN_SECRET_LENGTH } from "../../../definition/limits.ts";
import { type HostRule, isNamed } from "../../../ports/host-rules.ts";
import type { Secrets } from "../../../ports/secrets.ts";
import { type Call, isHeaderText } from "./call.ts";
import type { Masked } from "./mask.ts";

/** The hosts that each secret may be sent to. */
export type SecretHosts = ReadonlyMap<string, readonly HostRule[]>;

/** The valid names of secrets, in settings and in references. */
export const SECRET_NAME = "[A-Za-z][A-Za-z0-9_]{0,63}";

const ANYWHERE = new RegExp(`(?<![A-Za-z0-9_])secret:(${SECRET_NAME})(?![A-Za-z0-9_])`, "g");
const WHOLE = new RegExp(`^secret:(${SECRET_NAME})$`);

/** The names of all secrets that a call refers to, each once. */
export function referencesIn({ headers, body }: Pick<Call, "headers" | "body">): readonly string[] {
  const inHeaders = Object.values(headers).flatMap((text) =>
    [...text.matchAll(ANYWHERE)].map(([, name = ""]) => name),
  );
  return [...new Set([...inHeaders, ...inBody(body)])];
}

/** Why secrets may not be sent to the host of a call; one sentence each. */
export function problemsWith(
  names: readonly string[],
  { url }: Pick<Call, "url">,
  hosts: SecretHosts,
): readonly string[] {
  const isInUrl = `${url.pathname}${url.search}`.search(ANYWHERE) >= 0;
  const inUrl = isInUrl
    ? ["A secret in the `url` would stand in logs; put it into a header or the body."]
    : [];
  return [...inUrl, ...names.flatMap((name) => problemWith(name, url, hosts.get(name)) ?? [])];
}

function problemWith(
  name: string,
  url: URL,
  rules: readonly HostRule[] | undefined,
): string | undefined {
  if (rules === undefined) return `The secret ${name} is not set up for HTTP tasks here.`;
  if (isNamed(rules, url)) return undefined;
  return `The secret ${name} is not set up to go to ${url.origin}.`;
}

/** The values of secrets by name, or what is wrong with them. */
export async function readSecrets(
  names: readonly string[],
  secrets: Secrets,
): Promise<Readonly<{ values: Masked; problems: readonly string[] }>> {
  const found = await Promise.all(
    names.map(async (name) => [name, await secrets.valueOf(name)] as const),
  );
  const problems = found.flatMap(([name, value]) => problemWithText(name, value) ?? []);
  return { values: new Map(found.map(([name, value = ""]) => [name, value])), problems };
}

function problemWithText(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return `The secret ${name} has no value here.`;
  if (value.length >= MIN_SECRET_LENGTH) return undefined;
  return `The secret ${name} has fewer than ${MIN_SECRET_LENGTH} characters; answers could not be cleared of it.`;
}

/** The headers with their secrets in place; undefined where one is invalid in a header. */
export function headersWith(
  headers: Call["headers"],
  values: Masked,
): Readonly<Record<string, string>> | undefined {
  const filled = Object.entries(headers).map(
    ([name, text]) =>
      [name, text.replace(ANYWHERE, (_, secret: string) => values.get(secret) ?? "")] as const,
  );
  if (!filled.every(([, text]) => isHeaderText(text))) return undefined;
  return Object.fromEntries(filled);
}

/** The body with its secrets in place. */
export function bodyWith(body: Json, values: Masked): Json {
  if (typeof body === "string") {
    const name = WHOLE.exec(body)?.[1];
    return name === undefined ? body : (values.get(name) ?? "");
  }
  if (typeof body !== "object" || body === null) return body;
  if (isList(body)) return body.map((item) => bodyWith(item, values));
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, bodyWith(value, values)]),
  );
}

function inBody(body: Json): readonly string[] {
  if (typeof body === "string") return WHOLE.exec(body)?.slice(1, 2) ?? [];
  if (typeof body !== "object" || body === null) return [];
  return Object.values(body).flatMap(inBody);
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
