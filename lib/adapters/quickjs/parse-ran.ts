/**
 * Reads what comes out of a machine. A bundle can write anything there, so nothing is taken that was
 * not looked at.
 */
import type { Json } from "../../definition/json.ts";
import { MAX_KEY_NAME_BYTES, MAX_NAME_LENGTH } from "../../definition/limits.ts";
import type {
  CallOptions,
  Declared,
  GuestEnd,
  GuestError,
  Operation,
  Ran,
  RetryTable,
  Site,
} from "../../definition/sandbox.ts";
import { Stopped } from "./machine.ts";
import { BUNDLE_FILE } from "./prelude.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a bundle has declared. */
export function parseDeclared(text: string): Declared {
  const { workflows, steps } = fieldsOf(parse(text));
  return { workflows: textsOf(workflows), steps: [...new Set(textsOf(steps))] };
}

/** What one feed led to. */
export function parseRan(text: string): Extract<Ran, { kind: "ran" }> {
  const { operations, end, isUnknown } = fieldsOf(parse(text));
  return {
    kind: "ran",
    operations: listOf(operations).map(parseOperation),
    ...(end !== undefined && { end: parseEnd(end) }),
    ...(isUnknown === true && { isUnknown }),
  };
}

function parseOperation(value: unknown): Operation {
  const fields = fieldsOf(value);
  switch (fields.op) {
    case "task":
      return {
        op: "task",
        ...openedOf(fields),
        type: nameOf(fields.type, MAX_KEY_NAME_BYTES),
        input: jsonOf(fields.input),
        ...(fields.options !== undefined && { options: parseOptions(fields.options) }),
      };
    case "timer":
      return fields.after === undefined
        ? { op: "timer", ...openedOf(fields), until: wholeOf(fields.until) }
        : { op: "timer", ...openedOf(fields), after: textOf(fields.after) };
    case "event":
      return {
        op: "event",
        ...openedOf(fields),
        name: nameOf(fields.name),
        ...(fields.inbox === true && { inbox: true as const }),
      };
    case "signal":
      return { op: "signal", ...openedOf(fields), name: nameOf(fields.name) };
    case "message":
      return {
        op: "message",
        ...openedOf(fields),
        name: nameOf(fields.name),
        key: shortOf(fields.key),
      };
    case "publish":
      return { op: "publish", name: nameOf(fields.name), payload: jsonOf(fields.payload) };
    case "close":
      return { op: "close", n: wholeOf(fields.n) };
    default:
      throw misused(`There is no operation ${JSON.stringify(fields.op)}.`);
  }
}

function openedOf({ n, at }: Fields): Readonly<{ n: number; at?: Site }> {
  const site = typeof at === "string" ? siteOf(at) : undefined;
  return site === undefined ? { n: wholeOf(n) } : { n: wholeOf(n), at: site };
}

/** The line and the column at the end of a line of a stack, if it is one of the bundle. */
function siteOf(stack: string): Site | undefined {
  const [, line, column] = IN_BUNDLE.exec(stack) ?? [];
  return line === undefined || column === undefined ? undefined : [Number(line), Number(column)];
}

const IN_BUNDLE = new RegExp(`${BUNDLE_FILE.replace(".", "\\.")}:(\\d{1,9}):(\\d{1,9})\\)?\\s*$`);

function parseOptions(value: unknown): CallOptions {
  const { retry, timeout } = fieldsOf(value);
  return {
    ...(retry !== undefined && { retry: parseRetry(retry) }),
    ...(timeout !== undefined && { timeout: textOf(timeout) }),
  };
}

function parseRetry(value: unknown): RetryTable {
  const { maxAttempts, backoff, maxBackoff, multiplier, jitter, retryOn, nonRetryable } =
    fieldsOf(value);
  return {
    ...(maxAttempts !== undefined && { maxAttempts: wholeOf(maxAttempts) }),
    ...(backoff !== undefined && { backoff: textOf(backoff) }),
    ...(maxBackoff !== undefined && { maxBackoff: textOf(maxBackoff) }),
    ...(multiplier !== undefined && { multiplier: numberOf(multiplier) }),
    ...(jitter !== undefined && { jitter: numberOf(jitter) }),
    ...(retryOn !== undefined && { retryOn: textsOf(retryOn) }),
    ...(nonRetryable !== undefined && { nonRetryable: textsOf(nonRetryable) }),
  };
}

function parseEnd(value: unknown): GuestEnd {
  const { value: result, error } = fieldsOf(value);
  return error === undefined ? { value: jsonOf(result ?? null) } : { error: parseError(error) };
}

function parseError(value: unknown): GuestError {
  const { name, message, code, stack } = fieldsOf(value);
  return {
    message: textOf(message),
    ...(name !== undefined && { name: textOf(name) }),
    ...(code !== undefined && { code: textOf(code) }),
    ...(stack !== undefined && { stack: textOf(stack) }),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw misused("What it returned is not JSON.");
  }
}

function fieldsOf(value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw misused("An object is missing.");
  }
  return value as Fields;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw misused("A list is missing.");
  return value;
}

function textOf(value: unknown): string {
  if (typeof value !== "string") throw misused("A text is missing.");
  return value;
}

const textsOf = (value: unknown): readonly string[] => listOf(value).map(textOf);

function shortOf(value: unknown): string {
  const text = textOf(value);
  if (text.length > MAX_NAME_LENGTH) throw misused("A name is too long.");
  return text;
}

function nameOf(value: unknown, longest = MAX_NAME_LENGTH): string {
  const text = textOf(value);
  if (text === "" || text.length > longest) throw misused("A name is empty or too long.");
  return text;
}

function numberOf(value: unknown): number {
  if (typeof value !== "number") throw misused("A number is missing.");
  return value;
}

function wholeOf(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw misused("A whole number is missing.");
  return value as number;
}

/** It came out of JSON text, so it is JSON; only absence must be ruled out. */
function jsonOf(value: unknown): Json {
  if (value === undefined) throw misused("A value is missing.");
  return value as Json;
}

export const misused = (what: string): Stopped =>
  new Stopped("crash", `The bundle used the operation protocol wrongly. ${what}`);
