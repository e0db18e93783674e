import { FeelDuration } from "feelin";
import { borrowed } from "./borrowed.ts";
import { charge, type Run, requireShort, warn } from "./run.ts";
import { ratio, scale } from "./temporal.ts";
import { isTemporal, typeOf } from "./values.ts";

/** An arithmetic operator: operands whose types do not fit give null and a warning. */
export type Operator = (run: Run, left: unknown, right: unknown) => unknown;

/** The operator that a sign stands for. */
export function arithmetic(sign: string): Operator {
  switch (sign) {
    case "+":
      return add;
    case "-":
      return subtract;
    case "*":
      return multiply;
    case "/":
      return divide;
    default:
      return power;
  }
}

/** Unary minus, of numbers and durations. */
export function negated(run: Run, value: unknown): unknown {
  if (typeof value === "number") return -value;
  return multiply(run, value, -1);
}

function add(run: Run, left: unknown, right: unknown): unknown {
  if (typeof left === "number" && typeof right === "number") return left + right;
  if (typeof left === "string" && typeof right === "string") {
    requireShort(left.length + right.length);
    charge(run, (left.length + right.length) >> 6);
    return left + right;
  }
  if (isTemporal(left) && isTemporal(right)) {
    return feelinAdd(left, right) ?? misfit(run, "add", left, right);
  }
  return misfit(run, "add", left, right);
}

function subtract(run: Run, left: unknown, right: unknown): unknown {
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (isTemporal(left) && isTemporal(right)) {
    return feelinSubtract(left, right) ?? misfit(run, "subtract", left, right);
  }
  return misfit(run, "subtract", left, right);
}

function multiply(run: Run, left: unknown, right: unknown): unknown {
  if (typeof left === "number" && typeof right === "number") return left * right;
  if (left instanceof FeelDuration && typeof right === "number") return scale(left, right);
  if (typeof left === "number" && right instanceof FeelDuration) return scale(right, left);
  return misfit(run, "multiply", left, right);
}

function divide(run: Run, left: unknown, right: unknown): unknown {
  if (right === 0) return warn(run, "cannot divide by zero");
  if (typeof left === "number" && typeof right === "number") return left / right;
  if (left instanceof FeelDuration && typeof right === "number") return scale(left, 1 / right);
  if (left instanceof FeelDuration && right instanceof FeelDuration) return ratio(left, right);
  return misfit(run, "divide", left, right);
}

function power(run: Run, left: unknown, right: unknown): unknown {
  if (typeof left === "number" && typeof right === "number") return left ** right;
  return misfit(run, "raise", left, right);
}

function misfit(run: Run, verb: string, left: unknown, right: unknown): null {
  return warn(run, `cannot ${verb} ${typeOf(left)} and ${typeOf(right)}`);
}

const feelinAdd = borrowed("function(a, b) a + b");
const feelinSubtract = borrowed("function(a, b) a - b");
