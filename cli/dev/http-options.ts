import type { HttpOptions } from "../../lib/embedded/index.ts";
import { UsageError } from "../usage-error.ts";

type Given = Readonly<{
  allow: readonly string[] | undefined;
  private: readonly string[] | undefined;
  secrets: readonly string[] | undefined;
}>;

/** The hosts that HTTP tasks may call, from the options; one option may list several with commas. */
export function httpOptions(given: Given): HttpOptions {
  return {
    ...(given.allow && { allowHosts: given.allow.flatMap(listOf) }),
    ...(given.private && { allowPrivate: given.private.flatMap(listOf) }),
    ...(given.secrets && { secrets: Object.fromEntries(given.secrets.map(secretOf)) }),
  };
}

function secretOf(text: string): readonly [string, readonly string[]] {
  const at = text.indexOf("=");
  const hosts = listOf(text.slice(at + 1));
  if (at > 0 && hosts.length > 0) return [text.slice(0, at), hosts];
  throw new UsageError(
    `--secret is "${text}", but must be a name and the hosts it may be sent to, such as API_KEY=api.example.com.`,
  );
}

const listOf = (text: string): readonly string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
