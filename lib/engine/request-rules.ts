/**
 * What every door asks of a request. HTTP requests have been checked by their shapes; callers of
 * the library come as they are, and are told what is wrong instead of meeting it later.
 */
import { isVariableName } from "../definition/expression.ts";
import { INSTANCE_ID_RULE, isInstanceId } from "../definition/instance-id.ts";
import { findNonJson } from "../definition/json.ts";
import { isKeyName, KEY_NAME_RULE } from "../definition/key-name.ts";
import {
  MAX_BUSINESS_KEY_LENGTH,
  MAX_CANDIDATES,
  MAX_NAME_LENGTH,
  MAX_PAGE_SIZE,
  MAX_PAYLOAD_BYTES,
  MAX_TAG_LENGTH,
  MAX_TAGS,
} from "../definition/limits.ts";
import { type Duration, parseDuration } from "../definition/time/duration.ts";
import { parseInstant } from "../definition/time/instant.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { PageRequest } from "./shapes/paging.ts";

/** One thing that is wrong, where, and what to do about it. */
export type Problem = Readonly<{ path: string; message: string; fix: string }>;

/** Everything that is wrong with the value at this path. */
export type Rule = (path: string, value: unknown) => readonly Problem[];

/** Throws one refusal with everything that is wrong with what was given, each by its rule. */
export function checkRequest<K extends string>(
  rules: Readonly<Record<K, Rule>>,
  given: Readonly<Record<K, unknown>>,
): void {
  const wrong = problemsIn(rules, given);
  const [first, ...others] = wrong;
  if (first === undefined) return;
  throw new EngineError("request/invalid", {
    happened: wrong.map(({ path, message }) => `${path} ${message}`).join("; "),
    where: wrong.map(({ path }) => path).join(", "),
    fix: others.length === 0 ? first.fix : "Mend everything that is listed; nothing was done.",
    retryable: false,
    details: wrong.map(({ path, message }) => ({ path, message })),
  });
}

/** Throws unless instances may be called so. */
export function checkInstanceId(instanceId: unknown): void {
  checkRequest({ instanceId: newInstanceId }, { instanceId });
}

/** Throws unless instances may be found by these. */
export function checkFoundBy(given: Readonly<{ businessKey?: unknown; tags?: unknown }>): void {
  const { businessKey: key, tags } = given;
  checkRequest(
    { businessKey: optional(businessKey), tags: optional(tagTexts) },
    { businessKey: key, tags },
  );
}

/** Throws unless a signal, a message or an event, or a key or an id of one, may be called so. */
export function checkName(path: string, name: unknown): void {
  checkRequest({ [path]: nameText }, { [path]: name });
}

/** Throws unless JSON can hold it, in as many bytes as are carried around. */
export function checkPayload(payload: unknown): void {
  checkRequest({ payload: json }, { payload });
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (bytes <= MAX_PAYLOAD_BYTES) return;
  throw new EngineError("request/body-too-large", {
    happened: `The payload takes ${bytes} bytes, ${MAX_PAYLOAD_BYTES} is the limit`,
    where: "payload",
    fix: "Keep large values elsewhere and send references to them.",
    retryable: false,
  });
}

/** Throws unless these are values by name that JSON can hold. */
export function checkVariables(variables: unknown, path = "variables"): void {
  checkRequest({ [path]: newVariables }, { [path]: variables });
}

/** Throws unless a page may be this long. */
export function checkPage({ limit }: PageRequest): void {
  checkRequest({ limit: pageSize }, { limit });
}

/** What is undefined is left out, and may be. */
export const optional =
  (rule: Rule): Rule =>
  (path, value) =>
    value === undefined ? [] : rule(path, value);

/** What may be null, to say that there is none. */
export const nullable =
  (rule: Rule): Rule =>
  (path, value) =>
    value === null ? [] : rule(path, value);

/** An object of settings, each by its rule and none besides; what is wrong has the setting's path. */
export const settings =
  (rules: Readonly<Record<string, Rule>>): Rule =>
  (path, value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return [{ path, message: "must be an object", fix: "Pass an object with its settings." }];
    }
    const unknown = Object.entries(value).filter(
      ([name, part]) => part !== undefined && !Object.hasOwn(rules, name),
    );
    const fix = `Leave it out; there are ${Object.keys(rules).join(", ")}.`;
    return [
      ...problemsIn(rules, value),
      ...unknown.map(([name]) => ({ path: name, message: "is not known here", fix })),
    ];
  };

function problemsIn(rules: Readonly<Record<string, Rule>>, value: object): readonly Problem[] {
  const given = new Map<string, unknown>(Object.entries(value));
  return Object.entries(rules).flatMap(([path, rule]) => rule(path, given.get(path)));
}

/** A rule that holds or does not. */
const rule =
  (holds: (value: unknown) => boolean, message: string, fix: string): Rule =>
  (path, value) =>
    holds(value) ? [] : [{ path, message, fix }];

const isKeyText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.isWellFormed() && !value.includes("\0");

/** The name of a signal, a message or an event, or a key or an id of one. */
export const nameText: Rule = rule(
  (value) => isKeyText(value) && value.length <= MAX_NAME_LENGTH,
  `must be 1 to ${MAX_NAME_LENGTH} characters of text`,
  "Choose another.",
);

/** A correlation key: text, of which an empty one is none, or a number that stands for its text. */
export const correlationKey: Rule = (path, value) =>
  value === "" || Number.isFinite(value) ? [] : nameText(path, value);

/** An id that somebody wrote into a definition: text of some length. */
export const idText: Rule = rule(
  isKeyText,
  "must be text of one character or more",
  "Pass it as the definition has it.",
);

/** A type of task. */
export const taskType: Rule = rule(
  (value) => typeof value === "string" && isKeyName(value),
  KEY_NAME_RULE,
  "Pass it as the definition has it.",
);

/** The id of an instance to be. */
export const newInstanceId: Rule = rule(
  isInstanceId,
  INSTANCE_ID_RULE,
  "Choose another id, or leave it to the engine.",
);

/** Text of any kind; as an id it may name nothing, which is then not found. */
export const text: Rule = rule(
  (value) => typeof value === "string",
  "must be text",
  "Pass a string.",
);

/** A business key. */
export const businessKey: Rule = rule(
  (value) => isKeyText(value) && value.length <= MAX_BUSINESS_KEY_LENGTH,
  `must be 1 to ${MAX_BUSINESS_KEY_LENGTH} characters of text`,
  "Choose another, or leave it out.",
);

const isTag = (value: unknown): boolean => isKeyText(value) && value.length <= MAX_TAG_LENGTH;

/** One tag. */
export const tagText: Rule = rule(
  isTag,
  `must be 1 to ${MAX_TAG_LENGTH} characters of text`,
  "Choose another, or leave it out.",
);

/** Groups that a user is in. */
export const groupNames: Rule = (path, value) =>
  Array.isArray(value) && value.length <= MAX_CANDIDATES
    ? value.flatMap((name, n) => nameText(`${path}.${n}`, name))
    : [{ path, message: `must be a list of at most ${MAX_CANDIDATES} names`, fix: "Pass a list." }];

/** The tags of an instance. */
export const tagTexts: Rule = rule(
  (value) => Array.isArray(value) && value.length <= MAX_TAGS && value.every(isTag),
  `must be a list of at most ${MAX_TAGS} tags of 1 to ${MAX_TAG_LENGTH} characters`,
  "Pass an array of such strings, or leave it out.",
);

/** True or false. */
export const flag: Rule = rule(
  (value) => typeof value === "boolean",
  "must be a boolean",
  "Pass true or false.",
);

/** One of these values. */
export const oneOf = (...allowed: readonly unknown[]): Rule => {
  const message = `must be ${allowed.length > 1 ? "one of " : ""}${allowed.join(", ")}`;
  return rule((value) => allowed.includes(value), message, "Choose one of those, or leave it out.");
};

/** A whole number, at least so many. */
export const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER): Rule =>
  rule(
    (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
    most === Number.MAX_SAFE_INTEGER
      ? `must be a whole number, at least ${least}`
      : `must be a whole number from ${least} to ${most}`,
    "Pass such a number, or leave it out.",
  );

/** How long somebody waits, in milliseconds; for ever, if infinite. */
export const milliseconds: Rule = rule(
  (value) => typeof value === "number" && value >= 0,
  "must be a number of milliseconds, at least 0",
  "Pass such a number, or leave it out.",
);

/** How many a page may hold. */
export const pageSize: Rule = rule(
  (value) => Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MAX_PAGE_SIZE,
  `must be a whole number from 1 to ${MAX_PAGE_SIZE}`,
  "Ask for less at a time, and hand back `nextCursor` for more.",
);

/** What JSON can hold; of what it cannot, the first place is named. */
export const json: Rule = (path, value) => {
  const found = findNonJson(value);
  return found ? [notJson([path, ...found.path], found.problem)] : [];
};

/** Values by name that JSON can hold. */
export const newVariables: Rule = (path, value) => {
  const wrong = json(path, value);
  if (wrong.length > 0) return wrong;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [notJson([path], "is not an object")];
  }
  const names = Object.keys(value).filter((name) => !isVariableName(name));
  const fix = "Use letters, digits and _, begin with no digit, and avoid the keywords of FEEL.";
  return names.map((name) => {
    return { path, message: `${JSON.stringify(name)} cannot name a variable`, fix };
  });
};

/** A duration such as PT15M, not below zero. */
export const durationText: Rule = (path, value) =>
  durationProblems(path, value, (least) => (least < 0 ? "is below zero" : undefined));

/** A duration of which something is left once it has begun. */
export const lastingDuration: Rule = (path, value) =>
  durationProblems(path, value, (least, most) =>
    least < 0 || most === 0 ? "must be longer than zero" : undefined,
  );

function durationProblems(
  path: string,
  value: unknown,
  why: (least: number, most: number) => string | undefined,
): readonly Problem[] {
  const fix = 'Write an ISO 8601 duration such as "PT15M".';
  if (typeof value !== "string") return [{ path, message: "must be a duration", fix }];
  const parsed = parseDuration(value);
  if (!parsed.ok)
    return [{ path, message: `is not a duration: ${parsed.problem}`, fix: parsed.hint }];
  const message = why(...endsOf(parsed.value));
  return message === undefined ? [] : [{ path, message, fix }];
}

/** The shortest and the longest of a duration's parts. */
function endsOf({ months, days, timeMs }: Duration): [number, number] {
  return [Math.min(months, days, timeMs), Math.max(months, days, timeMs)];
}

/** An instant such as 2030-01-31T12:00:00Z. */
export const instantText: Rule = rule(
  (value) => typeof value === "string" && parseInstant(value).ok,
  "must be an instant",
  'Write one such as "2030-01-31T12:00:00Z".',
);

/** A duration from now, which may have passed, or an instant. */
export const deadlineText: Rule = rule(
  (value) => typeof value === "string" && (parseDuration(value).ok || parseInstant(value).ok),
  "must be a duration or an instant",
  'Write a duration such as "P2D" or an instant such as "2030-01-31T12:00:00Z".',
);

function notJson(path: readonly string[], message: string): Problem {
  const fix = "Pass only what JSON can say: null, booleans, finite numbers, texts, lists, objects.";
  return { path: path.join("."), message, fix };
}
