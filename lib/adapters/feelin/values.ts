import { FeelDate, FeelDateTime, FeelDuration, FeelTime, isFunction, isRange } from "feelin";
import { borrowed } from "./borrowed.ts";
import { charge, type Run, warn } from "./run.ts";

/** A FEEL context: what JSON calls an object. */
export type Context = Readonly<Record<string, unknown>>;

/** A date, a time, a date and time, or a duration. */
export type Temporal = FeelDate | FeelTime | FeelDateTime | FeelDuration;

/** The operators that need an order. */
export type OrderOperator = "<" | "<=" | ">" | ">=";

/** The FEEL type of a value, by its name in FEEL, for warnings. */
export function typeOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "list";
  if (isContext(value)) return "context";
  if (value instanceof FeelDate) return "date";
  if (value instanceof FeelTime) return "time";
  if (value instanceof FeelDateTime) return "date and time";
  if (value instanceof FeelDuration) return "duration";
  if (isRange(value)) return "range";
  if (isFunction(value) || typeof value === "function") return "function";
  return typeof value;
}

/** Whether a value is a FEEL context. */
export function isContext(value: unknown): value is Context {
  return (
    typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

/** Whether a value is temporal. */
export function isTemporal(value: unknown): value is Temporal {
  return (
    value instanceof FeelDate ||
    value instanceof FeelTime ||
    value instanceof FeelDateTime ||
    value instanceof FeelDuration
  );
}

/** FEEL's `=`: null equals only null; values of different types are neither equal nor unequal. */
export function equal(run: Run, a: unknown, b: unknown): boolean | null {
  const left = a ?? null;
  const right = b ?? null;
  if (left === null || right === null) return left === right;
  if (typeof left === "string") charge(run, left.length >> 6);
  if (typeof left !== "object" || typeof right !== "object") {
    return typeof left === typeof right ? left === right : unlike(run, left, right);
  }
  charge(run, 1);
  if (Array.isArray(left) && Array.isArray(right)) return equalLists(run, left, right);
  if (isContext(left) && isContext(right)) return equalContexts(run, left, right);
  if (typeOf(left) !== typeOf(right)) return unlike(run, left, right);
  if (left instanceof FeelDuration && right instanceof FeelDuration) {
    // feelin's own test rounds long durations to months.
    return order(run, left, "<=", right) === true && order(run, left, ">=", right) === true;
  }
  return trueFalseOrNull(feelinEqual(left, right));
}

/** FEEL's ordering: numbers, strings and like temporal values have one; anything else gives null. */
export function order(
  run: Run,
  left: unknown,
  operator: OrderOperator,
  right: unknown,
): boolean | null {
  if (typeof left === "number" && typeof right === "number") return ordered(left, operator, right);
  if (typeof left === "string" && typeof right === "string") {
    charge(run, left.length >> 6);
    return ordered(left, operator, right);
  }
  if (isTemporal(left) && isTemporal(right) && areAlike(left, right)) {
    return trueFalseOrNull(FEELIN_ORDER[operator](left, right));
  }
  return unlike(run, left, right);
}

/** Three-valued and. */
export function both(a: boolean | null, b: boolean | null): boolean | null {
  if (a === false || b === false) return false;
  return a === null || b === null ? null : true;
}

function equalLists(run: Run, left: readonly unknown[], right: readonly unknown[]): boolean {
  return (
    left.length === right.length && left.every((item, i) => equal(run, item, right[i]) === true)
  );
}

function equalContexts(run: Run, left: Context, right: Context): boolean {
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every(
      (name) => Object.hasOwn(right, name) && equal(run, left[name], right[name]) === true,
    )
  );
}

function ordered<T extends number | string>(left: T, operator: OrderOperator, right: T): boolean {
  switch (operator) {
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
  }
}

/** A local time has no order with a zoned one, nor months with days. */
function areAlike(left: Temporal, right: Temporal): boolean {
  if (left instanceof FeelDuration || right instanceof FeelDuration) {
    return (
      left instanceof FeelDuration &&
      right instanceof FeelDuration &&
      left.yearsMonths === right.yearsMonths
    );
  }
  return typeOf(left) === typeOf(right) && isLocal(left) === isLocal(right);
}

function isLocal(value: FeelDate | FeelTime | FeelDateTime): boolean {
  return value instanceof FeelDate || value.timezone === null;
}

function unlike(run: Run, left: unknown, right: unknown): null {
  return warn(run, `cannot compare ${typeOf(left)} with ${typeOf(right)}`);
}

function trueFalseOrNull(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}

const feelinEqual = borrowed("function(a, b) a = b");

const FEELIN_ORDER: Readonly<Record<OrderOperator, (...args: readonly unknown[]) => unknown>> = {
  "<": borrowed("function(a, b) a < b"),
  "<=": borrowed("function(a, b) a <= b"),
  ">": borrowed("function(a, b) a > b"),
  ">=": borrowed("function(a, b) a >= b"),
};
