import { FeelDate, FeelDateTime, FeelDuration } from "feelin";
import { borrowed } from "./borrowed.ts";
import { toJson } from "./json-result.ts";
import { matching } from "./pattern.ts";
import { charge, draw, EvaluationFailed, type Run, requireShort } from "./run.ts";
import { dateAt, dateTimeAt, isoText, lastDayOfMonth, readDateTime } from "./temporal.ts";
import { equal, isContext } from "./values.ts";

/** A function of ours: parameter names, for calls by name, and what it does. */
export type CamundaFunction = Readonly<{
  parameters: readonly string[];
  call: (args: readonly unknown[], run: Run) => unknown;
}>;

/** Returned for arguments of types the function does not take; the caller warns and gives null. */
export const MISFIT = Symbol("misfit");

/**
 * Functions that Camunda has and feelin lacks, and those of feelin's that are not pure, not bounded
 * or not right.
 */
export const CAMUNDA_FUNCTIONS: Readonly<Record<string, CamundaFunction>> = {
  now: { parameters: [], call: (_, run) => dateTimeAt(run.given.now) },
  today: { parameters: [], call: (_, run) => dateAt(run.given.now) },
  uuid: { parameters: [], call: (_, run) => uuidFrom(draw(run)) },
  "random number": {
    parameters: [],
    // 48 bits: what a Buffer reads at once, and finer than anyone will notice.
    call: (_, run) => draw(run).readUIntBE(0, 6) / 2 ** 48,
  },

  "get or else": {
    parameters: ["value", "default"],
    call: ([value, other]) => value ?? other,
  },
  assert: {
    parameters: ["value", "condition", "cause"],
    call: ([value, condition, cause]) => {
      if (condition === true) return value;
      throw new EvaluationFailed(
        typeof cause === "string" ? `an assertion failed: ${cause}` : "an assertion failed",
      );
    },
  },
  fromAi: {
    parameters: ["value", "description", "type", "schema", "options"],
    call: ([value]) => value,
  },
  cycle: {
    parameters: ["repetitions", "interval"],
    call: (args) => cycle(args.length === 1 ? [null, args[0]] : args),
  },

  "is empty": {
    parameters: ["list"],
    call: ([list]) => (Array.isArray(list) ? list.length === 0 : MISFIT),
  },
  "duplicate values": {
    parameters: ["list"],
    call: ([list], run) => (Array.isArray(list) ? duplicates(list, run) : MISFIT),
  },
  partition: {
    parameters: ["list", "size"],
    call: ([list, size]) =>
      Array.isArray(list) && typeof size === "number" ? partition(list, size) : MISFIT,
  },
  median: {
    parameters: ["list"],
    call: ([list]) => (isNumbers(list) ? median(list) : MISFIT),
  },

  "is blank": { parameters: ["string"], call: ([text]) => onText(text, (it) => it.trim() === "") },
  trim: { parameters: ["string"], call: ([text]) => onText(text, (it) => it.trim()) },
  "to base64": {
    parameters: ["value"],
    call: ([text]) => onText(text, (it) => Buffer.from(it, "utf8").toString("base64")),
  },
  "from base64": {
    parameters: ["value"],
    call: ([text]) => onText(text, (it) => Buffer.from(it, "base64").toString("utf8")),
  },
  "from json": { parameters: ["value"], call: ([text]) => onText(text, parseJsonText) },
  "to json": {
    parameters: ["value"],
    call: ([value], run) => JSON.stringify(toJson(value ?? null, run)),
  },

  extract: {
    parameters: ["string", "pattern"],
    call: ([text, pattern], run) =>
      typeof text === "string" && typeof pattern === "string"
        ? matching(run, pattern, text, () => extract(text, pattern))
        : MISFIT,
  },
  matches: {
    parameters: ["input", "pattern", "flags"],
    call: (args, run) => onPattern(args, run, feelinMatches),
  },
  split: {
    parameters: ["string", "delimiter"],
    call: (args, run) => onPattern(args, run, feelinSplit),
  },
  replace: {
    parameters: ["input", "pattern", "replacement", "flags"],
    call: (args, run) => {
      const [text, , replacement] = args;
      if (typeof text !== "string" || typeof replacement !== "string") return MISFIT;
      requireShort(text.length * Math.max(1, replacement.length));
      return onPattern(args, run, feelinReplace);
    },
  },

  "date and time": {
    parameters: ["date", "time", "from"],
    call: ([date, time, from]) => {
      const text = typeof date === "string" && time === undefined ? date : from;
      return (typeof text === "string" ? readDateTime(text) : combine(date, time)) ?? MISFIT;
    },
  },
  "last day of month": {
    parameters: ["date"],
    call: ([date]) =>
      date instanceof FeelDate || date instanceof FeelDateTime ? lastDayOfMonth(date) : MISFIT,
  },
  "get value": {
    parameters: ["context", "key", "keys"],
    call: ([context, key, keys]) => valueAt(context, key ?? keys),
  },
};

function uuidFrom(bytes: Buffer): string {
  // Version 4, variant 1, as RFC 9562 places them.
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [0, 8, 12, 16, 20].map((at, i) => hex.slice(at, [8, 12, 16, 20, 32][i])).join("-");
}

/** The text of a repeating timer: `R3/PT10M`, or `R/PT10M` for ever. */
function cycle([count, interval]: readonly unknown[]): string | typeof MISFIT {
  if (!(interval instanceof FeelDuration)) return MISFIT;
  if (count === null || count === undefined) return `R/${isoText(interval)}`;
  if (typeof count !== "number" || !Number.isInteger(count)) return MISFIT;
  return `R${count}/${isoText(interval)}`;
}

function duplicates(list: readonly unknown[], run: Run): unknown[] {
  const found: unknown[] = [];
  const has = (items: readonly unknown[], wanted: unknown) => {
    charge(run, items.length);
    return items.some((item) => equal(run, item, wanted) === true);
  };
  list.forEach((item, i) => {
    if (has(list.slice(0, i), item) && !has(found, item)) found.push(item);
  });
  return found;
}

function partition(list: readonly unknown[], size: number): unknown[][] | typeof MISFIT {
  if (!Number.isInteger(size) || size < 1) return MISFIT;
  const parts: unknown[][] = [];
  for (let i = 0; i < list.length; i += size) parts.push(list.slice(i, i + size));
  return parts;
}

/** feelin's own sorts numbers as text. */
function median(list: readonly number[]): number | null {
  const sorted = list.toSorted((a, b) => a - b);
  const low = sorted[Math.floor((sorted.length - 1) / 2)];
  const high = sorted[Math.floor(sorted.length / 2)];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => typeof item === "number");
}

function onText(value: unknown, work: (text: string) => unknown): unknown {
  return typeof value === "string" ? work(value) : MISFIT;
}

function onPattern(args: readonly unknown[], run: Run, feelin: ReturnType<typeof borrowed>) {
  const [text, pattern] = args;
  if (typeof text !== "string" || typeof pattern !== "string") return MISFIT;
  return matching(run, pattern, text, () => feelin(...args) ?? null);
}

function extract(text: string, pattern: string): readonly string[] | typeof MISFIT {
  const compiled = compilePattern(pattern);
  return compiled === undefined ? MISFIT : (text.match(compiled) ?? []);
}

function compilePattern(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, "gu");
  } catch {
    return undefined;
  }
}

function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return MISFIT;
  }
}

/** Follows one key, or a list of keys into nested contexts. */
function valueAt(context: unknown, keys: unknown): unknown {
  if (!isContext(context)) return MISFIT;
  let value: unknown = context;
  for (const key of Array.isArray(keys) ? keys : [keys]) {
    if (typeof key !== "string") return MISFIT;
    value = isContext(value) && Object.hasOwn(value, key) ? value[key] : null;
  }
  return value;
}

const combine = borrowed("function(d, t) date and time(d, t)");
const feelinMatches = borrowed("function(i, p, f) matches(i, p, f)");
const feelinSplit = borrowed("function(s, d) split(s, d)");
const feelinReplace = borrowed("function(i, p, r, f) replace(i, p, r, f)");
