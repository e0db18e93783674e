import type { Json, Variables } from "./json.ts";
import { MAX_PATTERN_MS_PER_DECISION, MAX_WORK_PER_DECISION } from "./limits.ts";
import { quoted } from "./parsed.ts";

/**
 * A value that a definition either writes down or computes when it is needed.
 *
 * In BPMN text a leading `=` makes the rest a FEEL expression; everything else stands for itself.
 * An expression in another language says which.
 */
export type Computed = Readonly<
  { kind: "static"; value: Json } | { kind: "feel"; text: string; language?: string }
>;

/** Finds a variable by name, seen from where the expression stands; undefined when there is none. */
export type Lookup = (name: string) => Json | undefined;

/**
 * Time and chance for one evaluation. The same pair gives the same result for ever; two
 * evaluations that must draw different random values need different seeds.
 */
export type Given = Readonly<{
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now: number;
  seed: string;
  /** Shared by evaluations that must not take too much together; absent: this one has its own. */
  budget?: Budget;
}>;

/** What evaluations may still spend; the expression engine counts it down. */
export type Budget = {
  /** Iterations, calls, parts of values: counted, so that it is the same everywhere. */
  work: number;
  /** Milliseconds of matching patterns: measured, and so the one thing that may differ. */
  patternMs: number;
};

/** What all evaluations of one decision may spend together. */
export function fullBudget(): Budget {
  return { work: MAX_WORK_PER_DECISION, patternMs: MAX_PATTERN_MS_PER_DECISION };
}

/** The outcome of an evaluation. Warnings explain a null: a missing variable, types that do not fit. */
export type Evaluation = Readonly<
  { ok: true; value: Json; warnings: readonly string[] } | { ok: false; problem: string }
>;

/** A language of expressions. */
export interface ExpressionLanguage<E = Evaluation | Promise<Evaluation>> {
  /** Says what is wrong with the text, at deploy; undefined when it can be evaluated. */
  check(text: string): string | undefined;
  /** Names of the variables that the text may read, each once, in order of first mention. */
  variablesOf(text: string): readonly string[];
  /** Never throws: an evaluation that fails says why. */
  evaluate(text: string, lookup: Lookup, given: Given): E;
}

/** The languages by their names; handed to the kernel, which never imports an engine. */
export type Expressions = ReadonlyMap<string, ExpressionLanguage>;

/** The language of an expression that names none. */
export const FEEL = "feel";

/** Looks variables up in one object, its own entries only. */
export function lookupIn(variables: Variables): Lookup {
  return (name) => (Object.hasOwn(variables, name) ? variables[name] : undefined);
}

/** Reads an attribute or element text; how its static form is typed depends on where it stands. */
export function parseComputed(text: string, staticForm: "text" | "typed" = "typed"): Computed {
  if (text.startsWith("=")) return { kind: "feel", text: text.slice(1).trim() };
  return { kind: "static", value: staticForm === "text" ? text : typedLiteral(text) };
}

/**
 * The value of a computed: its own, or what its expression evaluates to. Only some languages are
 * asynchronous: a value that is there at once is not wrapped in a promise, since a step evaluates
 * often.
 */
export function evaluateComputed(
  computed: Computed,
  expressions: Expressions,
  lookup: Lookup,
  given: Given,
): Evaluation | Promise<Evaluation> {
  if (computed.kind === "static") return { ok: true, value: computed.value, warnings: [] };
  const { text, language = FEEL } = computed;
  const speaker = expressions.get(language);
  if (speaker !== undefined) return speaker.evaluate(text, lookup, given);
  return { ok: false, problem: unknownLanguage(language, expressions) };
}

/** Says what is wrong with a computed, at deploy; undefined when it can be evaluated. */
export function problemOf(computed: Computed, expressions: Expressions): string | undefined {
  if (computed.kind === "static") return undefined;
  const { text, language = FEEL } = computed;
  const speaker = expressions.get(language);
  return speaker ? speaker.check(text) : unknownLanguage(language, expressions);
}

/** Names of the variables that a computed may read. */
export function variablesOf(computed: Computed, expressions: Expressions): readonly string[] {
  if (computed.kind === "static") return [];
  return expressions.get(computed.language ?? FEEL)?.variablesOf(computed.text) ?? [];
}

function unknownLanguage(language: string, expressions: Expressions): string {
  const known = [...expressions.keys()].map(quoted).join(", ");
  return `The expression language ${quoted(language)} is not known here. Use one of: ${known}.`;
}

/** The kinds of result that a place in a definition may ask for, by name. */
export type ResultKinds = {
  boolean: boolean;
  string: string;
  number: number;
  integer: number;
  list: readonly Json[];
  strings: readonly string[];
  /** A correlation key: text, or a number that is rendered as text. */
  key: string;
};

/** A result of the kind that was asked for, or why there is none. */
export type Result<T> = Readonly<{ ok: true; value: T } | { ok: false; problem: string }>;

/**
 * Narrows an evaluation to the kind its place needs. Null is no boolean: a condition that knows
 * nothing fails, and the problem repeats the warnings, because they name the missing variable.
 */
export function resultOf<K extends keyof ResultKinds>(
  kind: K,
  text: string,
  evaluation: Evaluation,
): Result<ResultKinds[K]> {
  if (!evaluation.ok) return evaluation;
  const value = NARROW[kind](evaluation.value);
  if (value !== undefined) return { ok: true, value };
  const because = evaluation.warnings.length === 0 ? "" : ` (${evaluation.warnings.join("; ")})`;
  const found = kindOf(evaluation.value);
  return {
    ok: false,
    problem: `The expression \`${text}\` gave ${found} where ${EXPECTED[kind]} is needed${because}.`,
  };
}

/** Says whether a variable may bear this name: one that FEEL reads as a single name. */
export function isVariableName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !KEYWORDS.has(name);
}

/** Says whether a mapping may write here: variable names joined by dots. */
export function isMappingTarget(target: string): boolean {
  return target.split(".").every(isVariableName);
}

const KEYWORDS: ReadonlySet<string> = new Set(
  (
    "null true false function external if then else for return some every satisfies " +
    "between instance of not in and or"
  ).split(" "),
);

const EXPECTED: Readonly<Record<keyof ResultKinds, string>> = {
  boolean: "true or false",
  string: "a string",
  number: "a number",
  integer: "a whole number",
  list: "a list",
  strings: "a list of strings",
  key: "a string or a number",
};

const NARROW: { readonly [K in keyof ResultKinds]: (value: Json) => ResultKinds[K] | undefined } = {
  boolean: (value) => (typeof value === "boolean" ? value : undefined),
  string: (value) => (typeof value === "string" ? value : undefined),
  number: (value) => (typeof value === "number" ? value : undefined),
  integer: (value) => (typeof value === "number" && Number.isInteger(value) ? value : undefined),
  list: (value) => (isList(value) ? value : undefined),
  strings: (value) => (isList(value) && value.every(isString) ? value : undefined),
  key: keyText,
};

function keyText(value: Json): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" ? correlationText(value) : undefined;
}

/** A number as a correlation key, the same for wait and sender: whole numbers in full. */
export function correlationText(value: number): string {
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

/** Types static text by its literal form; only text that JSON calls a number becomes one. */
function typedLiteral(text: string): Json {
  if (text === "null") return null;
  if (text === "true" || text === "false") return text === "true";
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text))
    ? Number(text) + 0
    : text;
}

function kindOf(value: Json): string {
  if (value === null) return "null";
  if (isList(value)) return "a list";
  return typeof value === "object" ? "a context" : `a ${typeof value}`;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isString(value: Json): value is string {
  return typeof value === "string";
}
