import type { Json, Variables } from "../lib/client/index.ts";
import type { Options } from "./command.ts";
import { parseJson, parseVariables } from "./parse-json.ts";
import { UsageError } from "./usage-error.ts";

/** The operand and the option of commands that take a payload; one of the two is enough. */
export const PAIRS = "[VARIABLE=VALUE…]";
export const PAYLOAD_OPTION = {
  payload: { type: "string", value: "JSON|@FILE", help: "its payload" },
} as const satisfies Options;

/** The help text about both. */
export const PAYLOAD_NOTE = [
  "VARIABLE=VALUE is a short form of --payload for a few variables. A VALUE that is valid JSON, such",
  "as 42, true or [1], is parsed; any other VALUE is text.",
].join("\n");

/** The same for the output variables of a task. */
export const VARIABLES_OPTION = {
  variables: { type: "string", value: "JSON|@FILE", help: "its output variables" },
} as const satisfies Options;
export const PAIRS_NOTE = PAYLOAD_NOTE.replace("--payload", "--variables");

/** Parses the output variables of a task; undefined if there are none. */
export function parseGiven(
  variables: string | undefined,
  pairs: readonly string[],
): Variables | undefined {
  if (variables === undefined) return parsePayload({ payload: undefined, pairs });
  if (pairs.length === 0) return parseVariables(variables, "variables");
  throw new UsageError(`"${pairs[0]}" and --variables cannot be combined. Use one of them.`);
}

type Given = Readonly<{ payload: string | undefined; pairs: readonly string[] }>;

/** Parses a payload of variables; undefined if there is none. */
export function parsePayload({ payload, pairs }: Given): Variables | undefined {
  demandOneForm({ payload, pairs });
  if (payload !== undefined) return parseVariables(payload, "payload");
  return pairs.length === 0 ? undefined : parsePairs(pairs);
}

/** Parses a payload of any JSON value; undefined if there is none. */
export function parseAnyPayload({ payload, pairs }: Given): Json | undefined {
  demandOneForm({ payload, pairs });
  if (payload !== undefined) return parseJson(payload, "payload");
  return pairs.length === 0 ? undefined : parsePairs(pairs);
}

function demandOneForm({ payload, pairs }: Given): void {
  if (payload === undefined || pairs.length === 0) return;
  throw new UsageError(`"${pairs[0]}" and --payload cannot be combined. Use one of them.`);
}

function parsePairs(pairs: readonly string[]): Variables {
  const named = new Map<string, Json>();
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1)
      throw new UsageError(`"${pair}" is not of the form VARIABLE=VALUE, such as total=42.`);
    const name = pair.slice(0, at);
    if (named.has(name)) throw new UsageError(`"${name}" is given twice. Give it once.`);
    named.set(name, parseValue(pair.slice(at + 1)));
  }
  return Object.fromEntries(named);
}

function parseValue(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
