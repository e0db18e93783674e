import { FeelDate, FeelDateTime, FeelDuration } from "feelin";
import { borrowed } from "./borrowed.ts";
import { type CamundaFunction, MISFIT } from "./camunda-function.ts";
import { toJson } from "./json-result.ts";
import { PATTERN_FUNCTIONS } from "./pattern-functions.ts";
import { charge, draw, EvaluationFailed, type Run } from "./run.ts";
import {
  dateAt,
  dateTimeAt,
  isoText,
  lastDayOfMonth,
  monthsBetween,
  readDateTime,
} from "./temporal.ts";
import { equal, isContext } from "./values.ts";

/**
 * Functions that Camunda has and feelin lacks, and replacements for those of feelin that are not
 * pure, not bounded or not correct.
 */
export const CAMUNDA_FUNCTIONS: Readonly<Record<string, CamundaFunction>> = {
  now: { parameters: [], call: (_, run) => dateTimeAt(run.given.now) },
  today: { parameters: [], call: (_, run) => dateAt(run.given.now) },
  uuid: { parameters: [], call: (_, run) => uuidFrom(draw(run)) },
  "random number": {
    parameters: [],
    // 48 bits: what a Buffer reads at once, and fine enough.
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

  ...PATTERN_FUNCTIONS,

  "date and time": {
    parameters: ["date", "time", "from"],
    call: ([date, time, from]) => {
      const text = typeof date === "string" && time === undefined ? date : from;
      return (typeof text === "string" ? readDateTime(text) : combine(date, time)) ?? MISFIT;
    },
  },
  "last day of month": {
    parameters: ["date"],
    call: ([date]) => (isDay(date) ? lastDayOfMonth(date) : MISFIT),
  },
  "years and months duration": {
    parameters: ["from", "to"],
    call: ([from, to]) => (isDay(from) && isDay(to) ? monthsBetween(from, to) : MISFIT),
  },
  "get value": {
    parameters: ["context", "key", "keys"],
    call: ([context, key, keys]) => valueAt(context, key ?? keys),
  },
};

function isDay(value: unknown): value is FeelDate | FeelDateTime {
  return value instanceof FeelDate || value instanceof FeelDateTime;
}

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

/** feelin's own function sorts numbers as text. */
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
