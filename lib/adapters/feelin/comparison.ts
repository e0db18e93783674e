import { FeelRange } from "feelin";
import { type Code, compileNth, nth, type Place, textOf } from "./place.ts";
import { charge, type Run, type Scope, warn, within } from "./run.ts";
import { partNamed, partsOf, type Syntax } from "./syntax.ts";
import { both, equal, isTemporal, order, typeOf } from "./values.ts";

/** A unary test: whether a value passes, null when the two are not comparable. */
export type Test = (scope: Scope, value: unknown) => boolean | null;

/** Compiles `a < b`, `a = b`, `a between b and c`, `a in …`. */
export function compileComparison(node: Syntax, place: Place): Code {
  const left = compileNth(node, 0, place);
  const sign = nth(node, 1);
  if (sign.name === "in") return compileIn(node, place, left);
  const right = compileNth(node, 2, place);
  if (sign.name === "between") {
    const end = compileNth(node, 4, place);
    return (scope) => {
      const value = left(scope);
      const { run } = scope;
      return both(order(run, value, ">=", right(scope)), order(run, value, "<=", end(scope)));
    };
  }
  const compare = comparator(textOf(sign, place));
  return (scope) => compare(scope.run, left(scope), right(scope));
}

/** Compiles a test in the place of a value: it becomes a range. */
export function compileUnaryTest(node: Syntax, place: Place): Code {
  const interval = node.name === "Interval" ? node : partNamed(node, "Interval");
  if (interval !== undefined) return compileInterval(interval, place);
  const sign = textOf(nth(node, 0), place);
  const operand = compileNth(node, 1, place);
  return (scope) => {
    const { run } = scope;
    const value = operand(scope);
    if (sign === "<" || sign === "<=") return rangeOf(run, [null, value], [false, sign === "<="]);
    if (sign === ">" || sign === ">=") return rangeOf(run, [value, null], [sign === ">=", false]);
    return warn(run, `${sign} needs a value on its left`);
  };
}

/** Compiles a part of `in (…)`, or of a filter such as `[> 5]`. */
export function compileTest(node: Syntax, place: Place): Test {
  if (node.name === "PositiveUnaryTest") return compileTest(nth(node, 0), place);
  const [sign, operand] = partsOf(node);
  if (node.name === "SimplePositiveUnaryTest" && sign?.name === "CompareOp" && operand) {
    const compare = comparator(textOf(sign, place));
    const code = place.compile(operand, place);
    return (scope, value) => compare(scope.run, value, code(scope));
  }
  const code = place.compile(node, place);
  return (scope, value) => passes(scope.run, value, code(within(scope, { "?": value })));
}

function compileIn(node: Syntax, place: Place, left: Code): Code {
  const several = partNamed(node, "PositiveUnaryTests");
  const tests = (several === undefined ? [nth(node, 2)] : partsOf(several)).map((test) =>
    compileTest(test, place),
  );
  return (scope) => {
    const value = left(scope);
    let result: boolean | null = false;
    for (const test of tests) {
      const outcome = test(scope, value);
      if (outcome === true) return true;
      if (outcome === null) result = null;
    }
    return result;
  };
}

/** A range holds the value, a list has an equal item, a condition is true, or the two are equal. */
function passes(run: Run, value: unknown, test: unknown): boolean | null {
  if (test instanceof FeelRange) return holds(run, test, value);
  if (Array.isArray(test)) {
    charge(run, test.length);
    return test.some((item) =>
      item instanceof FeelRange
        ? holds(run, item, value) === true
        : equal(run, item, value) === true,
    );
  }
  if (typeof test === "boolean" && typeof value !== "boolean") return test;
  return equal(run, value, test);
}

function holds(run: Run, range: FeelRange, value: unknown): boolean | null {
  if (range.start === null && range.end === null) return null;
  const above = range["start included"] ? ">=" : ">";
  const below = range["end included"] ? "<=" : "<";
  return both(
    range.start === null ? true : order(run, value, above, range.start),
    range.end === null ? true : order(run, value, below, range.end),
  );
}

function compileInterval(node: Syntax, place: Place): Code {
  const start = compileNth(node, 1, place);
  const end = compileNth(node, 3, place);
  const startIncluded = nth(node, 0).name === "[";
  const endIncluded = nth(node, 4).name === "]";
  const included = [startIncluded, endIncluded] as const;
  return (scope) => rangeOf(scope.run, [start(scope), end(scope)], included);
}

function rangeOf(
  run: Run,
  [start, end]: readonly [start: unknown, end: unknown],
  [startIncluded, endIncluded]: readonly [start: boolean, end: boolean],
): FeelRange | null {
  const bounds = [start, end].filter((bound) => bound !== null && bound !== undefined);
  const [first = null] = bounds;
  const mixed = bounds.some((bound) => !canBound(bound) || typeOf(bound) !== typeOf(first));
  if (mixed) return warn(run, `no range from ${typeOf(start)} to ${typeOf(end)}`);
  return new FeelRange({
    start: start ?? null,
    end: end ?? null,
    "start included": startIncluded && start !== null,
    "end included": endIncluded && end !== null,
    // feelin names a date and time "date time" here.
    valueType: first === null ? null : typeOf(first).replace(" and ", " "),
  });
}

function canBound(value: unknown): boolean {
  return typeof value === "number" || typeof value === "string" || isTemporal(value);
}

function comparator(sign: string): (run: Run, a: unknown, b: unknown) => boolean | null {
  switch (sign) {
    case "=":
      return equal;
    case "!=":
      return (run, a, b) => {
        const same = equal(run, a, b);
        return same === null ? null : !same;
      };
    case "<":
    case "<=":
    case ">":
    case ">=":
      return (run, a, b) => order(run, a, sign, b);
    default:
      throw new Error(`No comparison is written ${sign}.`);
  }
}
