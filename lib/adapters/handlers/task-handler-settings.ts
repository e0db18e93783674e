import { accepted, type Parsed, refused } from "../../definition/parsed.ts";
import { parseDuration } from "../../definition/time/duration.ts";
import type { TaskHandler } from "../../ports/tasks.ts";
import type { HandlerRuns, TaskCode } from "./handler-runs.ts";

/** The default timeout of a handler. */
export const DEFAULT_TIMEOUT_MS = 45_000;

/** The longest timeout of a handler; longer work belongs to a worker. */
export const MAX_TIMEOUT_MS = 24 * 60 * 60_000;

/** The longest backoff between two attempts; for longer ones, model a timer. */
export const MAX_BACKOFF_MS = 30 * 24 * 60 * 60_000;

/** Parses what a handler's author exported: a function, or a function with settings. */
export function parseTaskHandler(exported: unknown, runs: HandlerRuns): Parsed<TaskHandler> {
  if (isCode(exported)) return handlerOf({ run: exported }, runs);
  if (typeof exported !== "object" || exported === null) {
    return refused("It is neither a function nor an object.", SHAPE);
  }
  const unknown = Object.keys(exported).find((name) => !SETTINGS.includes(name));
  if (unknown === undefined) return handlerOf(exported, runs);
  return refused(`It has no setting ${JSON.stringify(unknown)}.`, `Known: ${SETTINGS.join(", ")}.`);
}

type Exported = Readonly<{
  run?: unknown;
  timeout?: unknown;
  backoff?: unknown;
  isolate?: unknown;
  exclusive?: unknown;
}>;

const SETTINGS: readonly string[] = ["run", "timeout", "backoff", "isolate", "exclusive"];
const SHAPE = "Export `run(input, context)`, or `{ run, timeout, backoff, isolate, exclusive }`.";

function handlerOf(exported: Exported, runs: HandlerRuns): Parsed<TaskHandler> {
  const { run: code, isolate = false, exclusive = false } = exported;
  if (!isCode(code)) return refused("Its `run` is not a function.", SHAPE);
  if (typeof isolate !== "boolean" || typeof exclusive !== "boolean") {
    return refused("`isolate` and `exclusive` are switches.", "Write true or false.");
  }
  const timeout = parseMs("timeout", exported.timeout ?? DEFAULT_TIMEOUT_MS, TIMEOUT);
  if (!timeout.ok) return timeout;
  const backoff = parseBackoff(exported.backoff);
  if (!backoff.ok) return backoff;
  const timeoutMs = timeout.value;
  return accepted({
    timeoutMs,
    ...(backoff.value === undefined ? {} : { backoffMs: backoff.value }),
    isolate,
    exclusive,
    run: (input, about) => runs.run(code, input, { about, timeoutMs }),
  });
}

type Bounds = Readonly<{ min: number; max: number }>;
const TIMEOUT: Bounds = { min: 1, max: MAX_TIMEOUT_MS };
const BACKOFF: Bounds = { min: 0, max: MAX_BACKOFF_MS };

type BackoffMs = (attempt: number) => number;
type Growth = Readonly<{ initial?: unknown; multiplier?: unknown; max?: unknown }>;

function parseBackoff(backoff: unknown): Parsed<BackoffMs | undefined> {
  if (backoff === undefined) return accepted(undefined);
  if (typeof backoff !== "object" || backoff === null) {
    const fixed = parseMs("backoff", backoff, BACKOFF);
    return fixed.ok ? accepted(() => fixed.value) : fixed;
  }
  const { initial, multiplier = 2, max = MAX_BACKOFF_MS, ...rest }: Growth = backoff;
  const unknown = Object.keys(rest)[0];
  if (unknown !== undefined) {
    return refused(
      `Its backoff has no setting ${JSON.stringify(unknown)}.`,
      "Known: initial, multiplier, max.",
    );
  }
  const first = parseMs("backoff.initial", initial, BACKOFF);
  if (!first.ok) return first;
  const longest = parseMs("backoff.max", max, BACKOFF);
  if (!longest.ok) return longest;
  if (typeof multiplier !== "number" || !(multiplier >= 1 && multiplier <= 100)) {
    return refused("Its backoff.multiplier is no number from 1 to 100.", "2 doubles each pause.");
  }
  return accepted((attempt) =>
    Math.min(Math.ceil(first.value * multiplier ** Math.max(attempt - 1, 0)), longest.value),
  );
}

/** Reads whole milliseconds or an ISO duration; days have 24 hours here, months are refused. */
function parseMs(name: string, value: unknown, { min, max }: Bounds): Parsed<number> {
  const ms = typeof value === "string" ? msOf(value) : accepted(value);
  if (!ms.ok) return refused(`Its ${name} is wrong. ${ms.problem}`, ms.hint);
  if (typeof ms.value === "number" && Number.isInteger(ms.value) && ms.value >= min) {
    if (ms.value <= max) return accepted(ms.value);
    return refused(`Its ${name} is too long.`, `The longest is ${max} ms.`);
  }
  return refused(
    `Its ${name} is no length of time.`,
    `Write an ISO duration, for example PT30S, or whole milliseconds from ${min} on.`,
  );
}

function msOf(text: string): Parsed<number> {
  const duration = parseDuration(text);
  if (!duration.ok) return duration;
  const { months, days, timeMs } = duration.value;
  if (months === 0) return accepted(days * 24 * 60 * 60_000 + timeMs);
  return refused("Months and years have no fixed length.", "Use days, hours, minutes or seconds.");
}

function isCode(value: unknown): value is TaskCode {
  return typeof value === "function";
}
