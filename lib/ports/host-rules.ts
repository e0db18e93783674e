/**
 * Which hosts a setting names. A rule is `[http://]host[:port]`: without a scheme it means https,
 * without a port the scheme's own, and `:*` any port. `*.example.com` means every name below
 * example.com, not that name itself. Names are compared as the URL standard writes them.
 */
import { quoted } from "../definition/parsed.ts";

export type HostRule = Readonly<{
  protocol: string;
  host: string;
  /** Names below the host, instead of the host. */
  isBelow: boolean;
  /** As a URL has it, empty for the scheme's own; `*` for any. */
  port: string;
}>;

/** The parsed rules, and what is wrong with the others, one sentence each. */
export type HostRules = Readonly<{ rules: readonly HostRule[]; problems: readonly string[] }>;

/** Parses rules as users write them. */
export function parseHostRules(texts: readonly string[]): HostRules {
  const read = texts.map((text) => ruleOf(text) ?? problemWith(text));
  return {
    rules: read.filter((rule) => typeof rule !== "string"),
    problems: read.filter((rule) => typeof rule === "string"),
  };
}

/** Whether one of the rules names the host of a URL. */
export function isNamed(rules: readonly HostRule[], url: URL): boolean {
  return rules.some((rule) => names(rule, url));
}

/** The host of a URL without a trailing dot. */
export function hostOf({ hostname }: Pick<URL, "hostname">): string {
  return hostname.replace(/\.$/, "");
}

function names({ protocol, host, isBelow, port }: HostRule, url: URL): boolean {
  if (url.protocol !== protocol || (port !== "*" && url.port !== port)) return false;
  const called = hostOf(url);
  return isBelow ? called.endsWith(`.${host}`) : called === host;
}

const RULE =
  /^(?:(?<scheme>https?):\/\/)?(?<below>\*\.)?(?<host>[^\s/?#@:*[\]\\]+|\[[0-9a-f:.]+\])(?::(?<port>\d{1,5}|\*))?$/i;

function ruleOf(text: string): HostRule | undefined {
  const { scheme = "https", below, host, port } = RULE.exec(text.trim())?.groups ?? {};
  if (host === undefined) return undefined;
  const fixedPort = port === undefined || port === "*" ? "" : `:${port}`;
  const written = `${scheme.toLowerCase()}://${host}${fixedPort}`;
  if (!URL.canParse(written)) return undefined;
  const url = new URL(written);
  const isAddress = /^\[|^[\d.]+$/.test(url.hostname);
  if (below !== undefined && isAddress) return undefined;
  return {
    protocol: url.protocol,
    host: hostOf(url),
    isBelow: below !== undefined,
    port: port === "*" ? "*" : url.port,
  };
}

function problemWith(text: string): string {
  return `${quoted(text)} names no host; write for example api.example.com, *.example.com or http://localhost:8080.`;
}
