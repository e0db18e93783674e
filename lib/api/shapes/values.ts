import * as z from "zod";
import { isVariableName } from "../../definition/expression.ts";
import { findNonJson, type Json } from "../../definition/json.ts";
import { isKeyName, KEY_NAME_RULE } from "../../definition/key-name.ts";
import { MAX_NAME_LENGTH } from "../../definition/limits.ts";
import { parseDuration } from "../../definition/time/duration.ts";
import { formatInstant, parseInstant, parseRfc3339Instant } from "../../definition/time/instant.ts";
import { MAX_ID_LENGTH, MAX_MADE_ID_LENGTH } from "../limits.ts";
import { named } from "./registry.ts";

/** Any JSON value. */
export const json = named(
  "Json",
  z
    .custom<Json>()
    .superRefine((value, context) => {
      const found = findNonJson(value);
      if (found === undefined) return;
      const path = [...found.path];
      context.addIssue({ code: "custom", path, message: `${found.problem}, which is not JSON` });
    })
    .describe("Any JSON value."),
);

/** Variables as an instance holds them. */
export const variables = named(
  "Variables",
  z.record(z.string(), json).describe("Values by name, with the types that they were given."),
);

/** Variables of a request: with names that expressions can use. */
export const newVariables = named(
  "NewVariables",
  z
    .record(
      z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: notAName, abort: true })
        .refine(isVariableName, { error: notAName }),
      json,
    )
    .describe(
      "Values by name. A name has letters, digits and _, begins with no digit, and is no keyword of FEEL such as `in` or `null`.",
    ),
);

function notAName({ input }: { input?: unknown }): string {
  return `${JSON.stringify(input)} cannot name a variable: use letters, digits and _, begin with no digit, and avoid the keywords of FEEL`;
}

/** An instant in an answer. */
export const instant = z.string().meta({ format: "date-time" });

/** An instant in a query, in RFC 3339; normalized to the form that responses use. */
export const queryInstant = z
  .string()
  .transform((text, context) => {
    const parsed = parseRfc3339Instant(text);
    if (parsed.ok) return formatInstant(parsed.value);
    // A plus in a query is a space, unless it is written %2B.
    const hint = text.includes(" ") ? "Write the + of an offset as %2B." : parsed.hint;
    context.addIssue({ code: "custom", message: `${parsed.problem} ${hint}` });
    return z.NEVER;
  })
  .pipe(z.string().meta({ format: "date-time" }));

/** What a rule says about a duration, given its shortest and its longest part. */
type DurationRule = (least: number, most: number) => string | undefined;

/** What is wrong with the text of a duration. */
function durationFlaw(text: string, rule: DurationRule): string | undefined {
  const parsed = parseDuration(text);
  if (!parsed.ok) return `${parsed.problem} ${parsed.hint}`;
  const { months, days, timeMs } = parsed.value;
  const parts = [months, days, timeMs];
  return rule(Math.min(...parts), Math.max(...parts));
}

/** A duration that the rule allows. */
const durationWith = (rule: DurationRule) =>
  z
    .string()
    .superRefine((text, context) => {
      const message = durationFlaw(text, rule);
      if (message !== undefined) context.addIssue({ code: "custom", message });
    })
    .meta({
      format: "duration",
      description: "An ISO 8601 duration, such as PT15M; at most P100Y.",
    });

const notBelowZero: DurationRule = (least) =>
  least < 0 ? "must have no negative part" : undefined;

/** A duration, such as PT15M; not below zero. */
export const duration = durationWith(notBelowZero);

/** A duration that is longer than zero. */
export const lastingDuration = durationWith((least, most) =>
  least < 0 || most === 0 ? "must be longer than zero" : undefined,
);

/** A duration from now, not below zero, or an instant, which may be in the past. */
export const durationOrInstant = z
  .string()
  .superRefine((text, context) => {
    const message = IS_DURATION.test(text) ? durationFlaw(text, notBelowZero) : instantFlaw(text);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  })
  .meta({
    description:
      "A duration from now, such as P1D, or an instant, such as 2026-07-01T10:00:00Z. A duration must not be below zero; with PT0S or an instant in the past the time is over at once.",
    anyOf: [{ format: "duration" }, { format: "date-time" }],
  });

/** Not any P: the zone of an instant may have one, as [Europe/Paris] does. */
const IS_DURATION = /^[+-]?P/i;

function instantFlaw(text: string): string | undefined {
  const parsed = parseInstant(text);
  return parsed.ok ? undefined : `${parsed.problem} ${parsed.hint}`;
}

type Range = Readonly<{ min: number; max: number }>;

const rangeError = ({ min, max }: Range) => ({
  error: `must be a whole number from ${min} to ${max}`,
});

/** A whole number. */
export function integer(range: Range) {
  const error = rangeError(range);
  return z.int(error).min(range.min, error).max(range.max, error);
}

/** A whole number in a path or a query, where everything is text. */
export function integerText(range: Range) {
  return z
    .string()
    .regex(/^-?\d{1,15}$/, rangeError(range))
    .transform(Number)
    .pipe(integer(range));
}

/** The id of a broadcast or a dead letter, which may be longer than the one that was sent. */
export const madeIdText = z.string().min(1).max(MAX_MADE_ID_LENGTH);

/** Text that can be part of a key: NUL is reserved there, and keys are UTF-8. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this one is what it is about
const WITHOUT_NUL = /^[^\u0000]*$/;
export const storableText = (length: Range) =>
  z
    .string()
    .min(length.min)
    .max(length.max)
    .regex(WITHOUT_NUL, { error: "must not contain the character NUL" })
    .refine((text) => text.isWellFormed(), { error: "holds half a surrogate pair" });

/** An id in a path; an unknown one is not found. */
export const idText = z.string().min(1).max(MAX_ID_LENGTH);

/** The name of a signal, a message or an event. */
export const nameText = storableText({ min: 1, max: MAX_NAME_LENGTH });

/** An id that a caller chooses, or filters by. */
export const givenId = storableText({ min: 1, max: MAX_ID_LENGTH });

/** The text of a correlation key; empty means none. */
export const keyText = storableText({ min: 0, max: MAX_NAME_LENGTH });

/** A type of task. */
export const taskTypeName = z
  .string()
  .min(1, { abort: true })
  .max(MAX_NAME_LENGTH, { abort: true })
  .refine(isKeyName, { error: KEY_NAME_RULE });

/** A count in an answer. */
export const count = z.int().min(0);
