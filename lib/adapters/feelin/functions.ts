import { evaluate, FeelFunction, isFunction } from "feelin";
import { DIALECT } from "./borrowed.ts";
import { type CamundaFunction, MISFIT } from "./camunda-function.ts";
import { CAMUNDA_FUNCTIONS } from "./camunda-functions.ts";
import { charge, type Run, requireShort, warn } from "./run.ts";
import { isContext, typeOf } from "./values.ts";

/** The arguments of a call: values by position, or by the name of the parameter. */
export type Arguments = readonly unknown[] | Readonly<Record<string, unknown>>;

/** Something an expression can call. */
export type Callable = (run: Run, args: Arguments) => unknown;

/** The built-in function of that name: ours first, then feelin's. */
export function builtIn(name: string): Callable | undefined {
  const known = BUILT_INS.get(name);
  if (known !== undefined) return known;
  // Backticks make feelin read any text as one name, never as an expression to run.
  const { value } = evaluate(`\`${name.replaceAll("`", "")}\``, {}, DIALECT);
  if (typeof value !== "function" || !("$args" in value) || !isNames(value.$args)) return undefined;
  const callable = fromFeelin(name, new FeelFunction((...args) => value(...args), value.$args));
  BUILT_INS.set(name, callable);
  return callable;
}

/** Calls a value; one that cannot be called gives null and a warning. */
export function callValue(run: Run, name: string, target: unknown, args: Arguments): unknown {
  if (!isFunction(target)) return warn(run, `${name} is no function`);
  return settled(run, name, target.invoke(args));
}

/** A built-in as a value, to be passed to a function such as sort. */
export function asValue(run: Run, callable: Callable): FeelFunction {
  return new FeelFunction((...args: unknown[]) => callable(run, args), ["...args"]);
}

/** Names of functions that feelin's parser cannot know; it needs those with spaces. */
export const PARSE_CONTEXT: Readonly<Record<string, unknown>> = Object.fromEntries(
  ["is defined", ...Object.keys(CAMUNDA_FUNCTIONS)].map((name) => [name, null]),
);

const BUILT_INS = new Map<string, Callable>(
  Object.entries(CAMUNDA_FUNCTIONS).map(([name, own]) => [name, fromCamunda(name, own)]),
);

function fromFeelin(name: string, target: FeelFunction): Callable {
  const pay = PAY[name] ?? chargeShallow;
  return (run, args) => {
    pay(run, args);
    return settled(run, name, target.invoke(args));
  };
}

/** Feelin's functions that read more than the first level of their arguments. */
const PAY: Readonly<Record<string, (run: Run, args: Arguments) => void>> = {
  string: chargeDeep,
  "string join": chargeDeep,
  flatten: chargeDeep,
  "distinct values": chargePairs,
  union: chargePairs,
  "get entries": chargeEntries,
  "context put": chargeEntries,
  "context merge": chargeEntries,
};

function fromCamunda(name: string, { parameters, call }: CamundaFunction): Callable {
  return (run, args) => {
    const values = positional(args, parameters);
    if (values === undefined) return warn(run, `${name} does not take these parameters`);
    chargeShallow(run, values);
    const result = call(values, run);
    if (typeof result === "string") requireShort(result.length);
    if (result !== MISFIT) return result;
    return warn(run, `${name} does not take ${values.map(typeOf).join(", ") || "no arguments"}`);
  };
}

function positional(args: Arguments, parameters: readonly string[]) {
  if (isList(args)) return args.length <= parameters.length ? args : undefined;
  if (!Object.keys(args).every((name) => parameters.includes(name))) return undefined;
  return parameters.map((name) => args[name]);
}

/** feelin reports a refused call as an object of a class it does not export. */
function settled(run: Run, name: string, result: unknown): unknown {
  if (result === undefined) return null;
  if (typeof result === "string") requireShort(result.length);
  if (result === null || typeof result !== "object" || !("warning" in result)) return result;
  if (isContext(result)) return result;
  return warn(run, `${name} does not take these arguments`);
}

function chargeShallow(run: Run, args: Arguments): void {
  let steps = 1;
  for (const value of isList(args) ? args : Object.values(args)) {
    if (Array.isArray(value)) steps += value.length;
    else if (typeof value === "string") steps += value.length >> 4;
  }
  charge(run, steps);
}

/** Every item may be compared with every list and context among them. */
function chargePairs(run: Run, args: Arguments): void {
  chargeDeep(run, args);
  const items = (isList(args) ? args : Object.values(args)).flat();
  const structures = items.filter((item) => typeof item === "object" && item !== null);
  charge(run, Math.ceil((items.length * structures.length) / 2));
}

function chargeEntries(run: Run, args: Arguments): void {
  chargeShallow(run, args);
  for (const value of (isList(args) ? args : Object.values(args)).flat()) {
    if (isContext(value)) charge(run, Object.keys(value).length);
  }
}

/** Charges for every value inside, and for text by its length. */
export function chargeDeep(run: Run, value: unknown): void {
  charge(run, typeof value === "string" ? 1 + (value.length >> 4) : 1);
  if (Array.isArray(value)) for (const item of value) chargeDeep(run, item);
  else if (isContext(value)) for (const item of Object.values(value)) chargeDeep(run, item);
}

function isList(args: Arguments): args is readonly unknown[] {
  return Array.isArray(args);
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}
