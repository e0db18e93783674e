import { FeelRange } from "feelin";
import { compileTest } from "./comparison.ts";
import { binding, type Code, compileNth, nameOf, nth, type Place, stepsOf } from "./place.ts";
import { charge, type Run, type Scope, warn, within } from "./run.ts";
import { partsOf, type Syntax } from "./syntax.ts";
import { isContext, typeOf } from "./values.ts";

/** Compiles `for x in xs, y in ys return …`; the body sees the results so far as `partial`. */
export function compileFor(node: Syntax, place: Place): Code {
  const { names, loop } = compileLoop(nth(node, 1), binding(place, "partial"));
  const body = nth(node, 3);
  const code = place.compile(body, binding(place, "partial", ...names));
  const steps = stepsOf(body);
  return (scope) => {
    const results: unknown[] = [];
    const outcome = loop(within(scope, { partial: results }), (inner) => {
      charge(inner.run, steps);
      results.push(code(inner));
      return false;
    });
    return outcome === "no list" ? null : results;
  };
}

/** Compiles `some … satisfies` and `every … satisfies`: only true satisfies. */
export function compileQuantified(node: Syntax, place: Place): Code {
  const { names, loop } = compileLoop(nth(node, 1), place);
  const condition = nth(node, 3);
  const code = place.compile(condition, binding(place, ...names));
  const steps = stepsOf(condition);
  const decisive = nth(node, 0).name === "some";
  return (scope) => {
    const outcome = loop(scope, (inner) => {
      charge(inner.run, steps);
      return (code(inner) === true) === decisive;
    });
    if (outcome === "no list") return null;
    return outcome === "ended" ? decisive : !decisive;
  };
}

/**
 * Compiles `list[…]`. A number is a position, from 1, or from the end when negative; a test keeps
 * the items that pass. If the text alone does not show which, the value does.
 */
export function compileFilter(node: Syntax, place: Place): Code {
  const target = compileNth(node, 0, place);
  const condition = withoutParentheses(nth(node, 2));
  const inside = binding(place, "item");
  if (POSITIONS.has(condition.name)) {
    const position = place.compile(condition, place);
    return onList(target, (list, scope) => itemAt(list, position(scope)));
  }
  const keep = keeper(condition, inside);
  if (TESTS.has(condition.name)) return onList(target, keep);
  const position = inside.compile(condition, inside);
  return onList(target, (list, scope) => {
    // Only a guess so far: its warnings would be about items that are not bound yet.
    const noted = scope.run.warnings.length;
    const guess = position(scope);
    scope.run.warnings.length = noted;
    return typeof guess === "number" ? itemAt(list, guess) : keep(list, scope);
  });
}

const POSITIONS: ReadonlySet<string> = new Set(["NumericLiteral", "ArithmeticExpression"]);

const TESTS: ReadonlySet<string> = new Set([
  "Comparison",
  "Conjunction",
  "Disjunction",
  "QuantifiedExpression",
  "InstanceOfExpression",
  "SimplePositiveUnaryTest",
]);

type Keep = (list: readonly unknown[], scope: Scope) => unknown;

function onList(target: Code, keep: Keep): Code {
  return (scope) => {
    const value = target(scope) ?? null;
    if (value === null) return null;
    return keep(Array.isArray(value) ? value : [value], scope);
  };
}

function keeper(condition: Syntax, inside: Place): Keep {
  const steps = stepsOf(condition);
  const test =
    condition.name === "SimplePositiveUnaryTest" ? compileTest(condition, inside) : undefined;
  const code = test === undefined ? inside.compile(condition, inside) : undefined;
  return (list, scope) => {
    charge(scope.run, steps * list.length);
    return list.filter((item) => {
      const around = within(scope, { item });
      const inner = isContext(item) ? within(around, item) : around;
      return (test === undefined ? code?.(inner) : test(inner, item)) === true;
    });
  };
}

function itemAt(list: readonly unknown[], position: unknown): unknown {
  if (typeof position !== "number" || !Number.isInteger(position) || position === 0) return null;
  return list.at(position < 0 ? position : position - 1) ?? null;
}

function withoutParentheses(node: Syntax): Syntax {
  return node.name === "ParenthesizedExpression" ? withoutParentheses(nth(node, 1)) : node;
}

/** Called for each iteration; true ends the loop. */
type Visit = (scope: Scope) => boolean;

/**
 * How a loop ended: all iterations done, ended by a visit, or not started because a source is no
 * list.
 */
type Outcome = "finished" | "ended" | "no list";

type Loop = Readonly<{
  names: readonly string[];
  loop: (scope: Scope, visit: Visit) => Outcome;
}>;

/** Several sources make nested loops, the last one innermost; later sources see earlier names. */
function compileLoop(node: Syntax, place: Place): Loop {
  const names: string[] = [];
  const sources = partsOf(node).map((part) => {
    const source = { name: nameOf(nth(part, 0), place), items: compileSource(part, place, names) };
    names.push(source.name);
    return source;
  });

  function round(depth: number, scope: Scope, visit: Visit): Outcome {
    const source = sources[depth];
    if (source === undefined) return visit(scope) ? "ended" : "finished";
    const items = source.items(scope);
    if (items === null) return "no list";
    for (const item of items) {
      charge(scope.run, 1);
      const outcome = round(depth + 1, within(scope, { [source.name]: item }), visit);
      if (outcome !== "finished") return outcome;
    }
    return "finished";
  }
  return { names, loop: (scope, visit) => round(0, scope, visit) };
}

type Items = (scope: Scope) => Iterable<unknown> | null;

function compileSource(inExpression: Syntax, place: Place, earlier: readonly string[]): Items {
  const source = nth(inExpression, 2);
  const inside = binding(place, ...earlier);
  const parts = source.name === "IterationContext" ? partsOf(source) : [source];
  const [from, , to] = parts;
  const first = place.compile(from ?? source, inside);
  if (to === undefined) return (scope) => itemsOf(scope.run, first(scope));
  const last = place.compile(to, inside);
  return (scope) => numbers(scope.run, first(scope), last(scope));
}

function itemsOf(run: Run, value: unknown): Iterable<unknown> | null {
  if (Array.isArray(value)) return value;
  if (!(value instanceof FeelRange)) return warn(run, `cannot loop over ${typeOf(value)}`);
  const all = numbers(run, value.start, value.end);
  return all === null ? null : inside(all, value);
}

function* inside(all: Iterable<number>, range: FeelRange): Iterable<number> {
  for (const n of all) {
    if (n === range.start && !range["start included"]) continue;
    if (n === range.end && !range["end included"]) continue;
    yield n;
  }
}

function numbers(run: Run, start: unknown, end: unknown): Iterable<number> | null {
  if (typeof start !== "number" || typeof end !== "number") {
    return warn(run, `cannot count from ${typeOf(start)} to ${typeOf(end)}`);
  }
  return counting(run, start, end);
}

/** One by one, up or down; never stored, so that only the steps taken are charged. */
function* counting(run: Run, start: number, end: number): Iterable<number> {
  const by = start <= end ? 1 : -1;
  for (let n = start; by > 0 ? n <= end : n >= end; n += by) {
    charge(run, 1);
    yield n;
  }
}
