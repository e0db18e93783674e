/**
 * Shapes of what a queue brings as JSON. A shape is checked against its type by the compiler: neither
 * may have a property that the other lacks.
 */
import type { Json, Variables } from "../definition/json.ts";
import { type Instant, isInstant } from "../definition/time/instant.ts";

/** Says what is wrong with a value at this place; nothing: it is a `T`. */
export type Rule<T> = Readonly<{
  problems: (value: unknown, at: string) => readonly string[];
  isOptional?: boolean;
  /** Only for the compiler. */
  type?: (value: T) => T;
}>;

/** A rule for each property; those that may be absent have a `maybe`. */
export type Shape<T> = Readonly<{
  [Name in keyof T]-?: Partial<Pick<T, Name>> extends Pick<T, Name>
    ? Maybe<Exclude<T[Name], undefined>>
    : Rule<T[Name]>;
}>;

type Maybe<T> = Rule<T> & Readonly<{ isOptional: true }>;

const rule = <T>(is: (value: unknown) => boolean, what: string): Rule<T> => ({
  problems: (value, at) => (is(value) ? [] : [`${at} is wrong (${what})`]),
});

export const text = rule<string>((value) => typeof value === "string", "no text");
export const count = rule<number>((value) => typeof value === "number", "no number");
export const flag = rule<boolean>((value) => typeof value === "boolean", "neither true nor false");
export const instant = rule<Instant>(
  (value) => typeof value === "number" && isInstant(value),
  "no instant",
);
// What JSON.parse returned is JSON: only whether it is an object is left to say.
export const variables = rule<Variables>(isObject, "no object");
export const json = rule<Json>((value) => value !== undefined, "absent");

export const oneOf = <const T extends string | true>(...values: readonly T[]): Rule<T> =>
  rule((value) => values.some((it) => it === value), `not ${values.join(" or ")}`);

export const maybe = <T>({ problems }: Rule<T>): Maybe<T> => ({ problems, isOptional: true });

export const listOf = <T>(item: Rule<T>): Rule<readonly T[]> => ({
  problems: (value, at) =>
    Array.isArray(value)
      ? value.flatMap((it, n) => item.problems(it, inside(at, String(n))))
      : [`${at} is wrong (no list)`],
});

/** An object with these properties and no others. */
export const record = <T>(shape: Shape<T>): Rule<T> => ({
  problems: (value, at) => problemsOf(value, at, shape),
});

/** What fits one of two. */
export const anyOf = <A, B>(one: Rule<A>, other: Rule<B>): Rule<A | B> =>
  rule((value) => [one, other].some((it) => it.problems(value, "").length === 0), "of no kind");

/** A union that `kind` tells apart. */
export const byKind = <T extends Readonly<{ kind: string }>>(
  shapes: Readonly<{ [Kind in T["kind"]]: Shape<Omit<Extract<T, { kind: Kind }>, "kind">> }>,
): Rule<T> => ({
  problems: (value, at) => {
    const kind = isObject(value) ? value.kind : undefined;
    if (typeof kind !== "string" || !isKeyOf(shapes, kind)) return [`${at} is wrong (of no kind)`];
    return problemsOf(value, at, { ...shapes[kind], kind: text });
  },
});

const isKeyOf = <T extends object>(table: T, name: string): name is string & keyof T =>
  Object.hasOwn(table, name);

function problemsOf(value: unknown, at: string, shape: object): readonly string[] {
  if (!isObject(value)) return [`${at} is wrong (no object)`];
  const rules: readonly (readonly [string, Rule<unknown>])[] = Object.entries(shape);
  const unknown = Object.keys(value).filter((name) => !isKeyOf(shape, name));
  return [
    ...rules.flatMap(([name, { problems, isOptional }]) =>
      isOptional && !Object.hasOwn(value, name) ? [] : problems(value[name], inside(at, name)),
    ),
    ...(unknown.length === 0 ? [] : [`${at} has unknown ${unknown.join(", ")}`]),
  ];
}

const inside = (at: string, name: string): string => (at === "it" ? name : `${at}.${name}`);

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
