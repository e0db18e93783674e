import * as z from "zod";
import { isVariableName } from "../../definition/expression.ts";
import { isJson, type Json } from "../../definition/json.ts";
import { MAX_NAME_LENGTH } from "../../definition/limits.ts";
import { parseDuration } from "../../definition/time/duration.ts";
import { formatInstant, parseInstant, parseRfc3339Instant } from "../../definition/time/instant.ts";
import { MAX_ID_LENGTH, MAX_MADE_ID_LENGTH } from "../limits.ts";
import { named } from "./registry.ts";

/** Any JSON value. */
export const json = named(
  "Json",
  z.custom<Json>(isJson, { error: "must be JSON" }).describe("Any JSON value."),
);

/** Variables as an instance holds them. */
export const variables = named(
  "Variables",
  z.record(z.string(), json).describe("Values by name, with the types that they were given."),
);

/** Variables as a request brings them: names that an expression can say. */
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

/** An instant in a query, as RFC 3339 writes it; comes out in the one form that answers use. */
export const queryInstant = z
  .string()
  .transform((text, context) => {
    const parsed = parseRfc3339Instant(text);
    if (parsed.ok) return formatInstant(parsed.value);
    // A plus in a query is a blank, unless it is written %2B.
    const hint = text.includes(" ") ? "Write the + of an offset as %2B." : parsed.hint;
    context.addIssue({ code: "custom", message: `${parsed.problem} ${hint}` });
    return z.NEVER;
  })
  .pipe(z.string().meta({ format: "date-time" }));

/** A duration, such as PT15M; not below zero. */
export const duration = z
  .string()
  .superRefine((text, context) => {
    const parsed = parseDuration(text);
    if (!parsed.ok) {
      context.addIssue({ code: "custom", message: `${parsed.problem} ${parsed.hint}` });
    } else if (Math.min(parsed.value.months, parsed.value.days, parsed.value.timeMs) < 0) {
      context.addIssue({ code: "custom", message: `${JSON.stringify(text)} is below zero.` });
    }
  })
  .meta({ format: "duration", description: "An ISO 8601 duration, such as PT15M; at most P100Y." });

/** A duration from now, or an instant. */
export const durationOrInstant = z
  .string()
  .superRefine((text, context) => {
    const parsed = text.includes("P") ? parseDuration(text) : parseInstant(text);
    if (!parsed.ok) {
      context.addIssue({ code: "custom", message: `${parsed.problem} ${parsed.hint}` });
    }
  })
  .meta({
    description: "A duration from now, such as P1D, or an instant, such as 2026-07-01T10:00:00Z.",
    anyOf: [{ format: "duration" }, { format: "date-time" }],
  });

/** A whole number in a path or a query, where everything is text. */
export function integerText(limits: Readonly<{ min: number; max: number }>) {
  const range = `must be a whole number from ${limits.min} to ${limits.max}`;
  return z
    .string()
    .regex(/^-?\d{1,15}$/, { error: range })
    .transform(Number)
    .pipe(z.int().min(limits.min, { error: range }).max(limits.max, { error: range }));
}

/** An id or a name in a path or a query. */
export const idText = z.string().min(1).max(MAX_ID_LENGTH);

/** The id of a broadcast or a dead letter, which may be longer than the one that was sent. */
export const madeIdText = z.string().min(1).max(MAX_MADE_ID_LENGTH);

/** Text that can be stored under: keys keep NUL to themselves. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this one is what it is about
const WITHOUT_NUL = /^[^\u0000]*$/;
const withoutNul = { error: "must not contain the character NUL" };

/** The name of a signal, a message or an event. */
export const nameText = z.string().min(1).max(MAX_NAME_LENGTH).regex(WITHOUT_NUL, withoutNul);

/** An id that a caller gives to what it sends. */
export const givenId = z.string().min(1).max(MAX_ID_LENGTH).regex(WITHOUT_NUL, withoutNul);

/** The text of a correlation key; an empty one is none. */
export const keyText = z.string().max(MAX_NAME_LENGTH).regex(WITHOUT_NUL, withoutNul);

/** A count in an answer. */
export const count = z.int().min(0);
