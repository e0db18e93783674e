/**
 * Turns FEEL text into code, once: a closure per node of feelin's syntax tree. feelin's own
 * interpreter parses at every evaluation, has no budget, and takes other branches than Camunda in
 * several places; so the tree is feelin's, and so are dates and most functions, while control flow,
 * comparison and scope are decided here.
 */
import { FeelFunction, isFunction } from "feelin";
import { arithmetic, negated } from "./arithmetic.ts";
import { borrowed } from "./borrowed.ts";
import { compileComparison, compileUnaryTest } from "./comparison.ts";
import { type Arguments, asValue, builtIn, callValue, chargeDeep } from "./functions.ts";
import { compileFilter, compileFor, compileQuantified } from "./iteration.ts";
import {
  binding,
  type Code,
  compileNth,
  nameOf,
  nth,
  type Place,
  stepsOf,
  textOf,
} from "./place.ts";
import { charge, find, type Scope, warn, within } from "./run.ts";
import { NotAnExpression, parseFeel, partNamed, partsOf, type Syntax } from "./syntax.ts";
import { isContext, isTemporal, typeOf } from "./values.ts";

/** Code to run, and the variables that it may read. */
export type Program = Readonly<{ code: Code; reads: readonly string[] }>;

/** Compiles a text, or throws `NotAnExpression`. */
export function compile(text: string): Program {
  const reads = new Set<string>();
  const place = { text, bound: new Set<string>(), reads, compile: compilePart };
  const code = compilePart(parseFeel(text), place);
  return { code, reads: [...reads] };
}

function compilePart(node: Syntax, place: Place): Code {
  const compiler = COMPILERS[node.name];
  if (compiler === undefined) {
    throw new NotAnExpression(`"${textOf(node, place)}" is not supported`);
  }
  return compiler(node, place);
}

const COMPILERS: Readonly<Record<string, (node: Syntax, place: Place) => Code>> = {
  Expression: (node, place) => compileNth(node, 0, place),
  ParenthesizedExpression: (node, place) => compileNth(node, 1, place),
  null: () => () => null,
  BooleanLiteral: (node, place) => constant(textOf(node, place) === "true"),
  NumericLiteral: (node, place) => constant(numberOf(node, place)),
  StringLiteral: (node, place) => constant(constantOf(node, place)),
  DateTimeLiteral: compileDateTime,
  VariableName: compileVariable,
  "?": () => (scope) => find(scope, "?") ?? null,
  PathExpression: compilePath,
  FilterExpression: compileFilter,
  Comparison: compileComparison,
  SimplePositiveUnaryTest: compileUnaryTest,
  Interval: compileUnaryTest,
  InstanceOfExpression: compileInstanceOf,
  Conjunction: (node, place) => compileLogic(node, place, false),
  Disjunction: (node, place) => compileLogic(node, place, true),
  ArithmeticExpression: compileArithmetic,
  IfExpression: compileIf,
  ForExpression: compileFor,
  QuantifiedExpression: compileQuantified,
  List: compileList,
  Context: compileContext,
  FunctionDefinition: compileFunction,
  FunctionInvocation: compileCall,
};

function constant(value: unknown): Code {
  return () => value;
}

/** A minus may be separated from its number. */
function numberOf(node: Syntax, place: Place): number {
  return Number(textOf(node, place).replace(/\s/g, ""));
}

/** Lets feelin parse a literal: it knows the escapes and the temporal formats. */
function constantOf(node: Syntax, place: Place): unknown {
  return borrowed(`function() ${textOf(node, place)}`)();
}

function compileVariable(node: Syntax, place: Place): Code {
  const name = nameOf(node, place);
  const callable = builtIn(name);
  if (!place.bound.has(name)) {
    // feelin accepts any run of words as a name; no variable has such a name.
    if (callable === undefined && /\s/.test(name) && !textOf(node, place).includes("`")) {
      throw new NotAnExpression(`there is nothing named "${name}"; a name with blanks needs \`\``);
    }
    place.reads.add(name);
  }
  return (scope) => {
    const value = find(scope, name);
    if (value !== undefined) return value;
    if (callable !== undefined) return asValue(scope.run, callable);
    return warn(scope.run, `no variable named ${name}`);
  };
}

function compilePath(node: Syntax, place: Place): Code {
  const target = compileNth(node, 0, place);
  const name = nameOf(nth(node, 2), place);
  return (scope) => {
    const value = target(scope);
    if (!Array.isArray(value)) return property(scope, value, name);
    charge(scope.run, value.length);
    return value.map((item) => property(scope, item, name));
  };
}

function property({ run }: Scope, target: unknown, name: string): unknown {
  const value = ownProperty(target, name);
  if (value !== undefined) return value;
  return warn(run, `no entry named ${name} in ${typeOf(target)}`);
}

/**
 * An entry of a context, or the FEEL properties of a date or a range; nothing else of an object.
 */
function ownProperty(target: unknown, name: string): unknown {
  if (isContext(target)) return Object.hasOwn(target, name) ? target[name] : undefined;
  if (!isTemporal(target) && typeOf(target) !== "range") return undefined;
  if (typeof target !== "object" || target === null) return undefined;
  const shown = isTemporal(target) ? Object.getPrototypeOf(target) : target;
  const descriptor = Object.getOwnPropertyDescriptor(shown, name);
  if (descriptor === undefined) return undefined;
  return descriptor.get === undefined ? descriptor.value : Reflect.get(target, name);
}

/**
 * Three-valued `and` (false decides) and `or` (true decides); a deciding value ends the evaluation.
 */
function compileLogic(node: Syntax, place: Place, decisive: boolean): Code {
  const left = compileNth(node, 0, place);
  const right = compileNth(node, 2, place);
  return (scope) => {
    const first = left(scope);
    if (first === decisive) return decisive;
    const second = right(scope);
    if (second === decisive) return decisive;
    return first === !decisive && second === !decisive ? !decisive : null;
  };
}

function compileArithmetic(node: Syntax, place: Place): Code {
  const parts = partsOf(node);
  if (parts.length === 2) {
    const operand = compileNth(node, 1, place);
    return (scope) => negated(scope.run, operand(scope));
  }
  const left = compileNth(node, 0, place);
  const operate = arithmetic(textOf(nth(node, 1), place));
  const right = compileNth(node, 2, place);
  return (scope) => operate(scope.run, left(scope), right(scope));
}

/** Only true selects `then`. */
function compileIf(node: Syntax, place: Place): Code {
  const condition = compileNth(node, 1, place);
  const then = compileNth(node, 3, place);
  const otherwise = compileNth(node, 5, place);
  return (scope) => (condition(scope) === true ? then(scope) : otherwise(scope));
}

function compileInstanceOf(node: Syntax, place: Place): Code {
  const target = compileNth(node, 0, place);
  const type = textOf(nth(node, 3), place);
  const test = borrowed(`function(value) value instance of ${type}`);
  // Only a type with parts checks the inside of the value.
  const looksInside = type.includes("<");
  return (scope) => {
    const value = target(scope) ?? null;
    if (looksInside) chargeDeep(scope.run, value);
    return test(value);
  };
}

function compileList(node: Syntax, place: Place): Code {
  const items = partsOf(node)
    .slice(1, -1)
    .map((item) => compilePart(item, place));
  return (scope) => items.map((item) => item(scope));
}

/** Entries see the entries before them; functions among them see themselves. */
function compileContext(node: Syntax, place: Place): Code {
  let inside = place;
  const entries = partsOf(node)
    .filter((part) => part.name === "ContextEntry")
    .map((entry) => {
      const name = keyOf(nth(entry, 0), place);
      const mayCallItself = nth(entry, 1).name === "FunctionDefinition";
      const value = compileNth(entry, 1, mayCallItself ? binding(inside, name) : inside);
      inside = binding(inside, name);
      return { name, value };
    });
  return (scope) => {
    const context: Record<string, unknown> = {};
    const seen = within(scope, context);
    for (const { name, value } of entries) context[name] = value(seen);
    return context;
  };
}

function keyOf(key: Syntax, place: Place): string {
  const inner = nth(key, 0);
  const name = inner.name === "StringLiteral" ? constantOf(inner, place) : nameOf(inner, place);
  if (typeof name === "string" && name !== "__proto__") return name;
  throw new NotAnExpression(`${textOf(key, place)} cannot be the name of an entry`);
}

function compileFunction(node: Syntax, place: Place): Code {
  if (partNamed(node, "external") !== undefined) {
    throw new NotAnExpression("external functions are not supported");
  }
  const formal = partNamed(node, "FormalParameters");
  const parameters = (formal === undefined ? [] : partsOf(formal)).map((parameter) =>
    nameOf(nth(parameter, 0), place),
  );
  const body = partNamed(node, "FunctionBody");
  if (body === undefined) throw new NotAnExpression("a function has no body");
  const code = compileNth(body, 0, binding(place, ...parameters));
  const steps = stepsOf(body);
  return (scope) =>
    new FeelFunction((...args: unknown[]) => {
      charge(scope.run, steps);
      const values = parameters.map((name, i) => ({ [name]: args[i] ?? null }));
      return code(within(scope, Object.assign({}, ...values)));
    }, parameters);
}

function compileDateTime(node: Syntax, place: Place): Code {
  if (nth(node, 0).name !== "AtLiteral") return compileCall(node, place);
  const text = constantOf(nth(nth(node, 0), 0), place);
  // Ours reads bracketed zones as well; feelin reads every other format.
  const read =
    typeof text === "string" && text.includes("[") ? builtIn("date and time") : undefined;
  if (read !== undefined) return (scope) => read(scope.run, [text]);
  const value = constantOf(node, place) ?? null;
  return value === null
    ? (scope) => warn(scope.run, `@"${text}" is no date, time or duration`)
    : constant(value);
}

/**
 * Functions and variables do not hide each other: a call resolves to a function bound in the
 * expression, then to a built-in, and never to a variable of the same name.
 */
function compileCall(node: Syntax, place: Place): Code {
  const target = nth(node, 0);
  const args = compileArguments(nth(node, 2), place);
  const isName = CALLABLE_NAMES.has(target.name);
  if (!isName) {
    const code = compilePart(target, place);
    return (scope) => callValue(scope.run, textOf(target, place), code(scope), args(scope));
  }
  const name = nameOf(target, place);
  const callable = builtIn(name);
  if (place.bound.has(name)) {
    return (scope) => {
      const value = find(scope, name);
      return callable === undefined || isFunction(value)
        ? callValue(scope.run, name, value, args(scope))
        : callable(scope.run, args(scope));
    };
  }
  if (name === "is defined") return compileIsDefined(nth(node, 2), place);
  if (callable === undefined) throw new NotAnExpression(`there is no function named ${name}`);
  return (scope) => callable(scope.run, args(scope));
}

const CALLABLE_NAMES: ReadonlySet<string> = new Set([
  "VariableName",
  "SpecialFunctionName",
  "DateTimeConstructor",
]);

function compileArguments(node: Syntax, place: Place): (scope: Scope) => Arguments {
  if (node.name === "NamedParameters") {
    const named = partsOf(node).map((part) => ({
      name: nameOf(nth(part, 0), place),
      value: compileNth(part, 1, place),
    }));
    return (scope) => Object.fromEntries(named.map(({ name, value }) => [name, value(scope)]));
  }
  const values = node.name === "PositionalParameters" ? partsOf(node) : [];
  const codes = values.map((value) => compilePart(value, place));
  return (scope) => codes.map((code) => code(scope));
}

/**
 * A variable or an entry is defined even when it is null, which a function could not distinguish.
 */
function compileIsDefined(args: Syntax, place: Place): Code {
  const [given] = partsOf(args);
  if (given === undefined) throw new NotAnExpression("is defined needs a value to look at");
  const value = given.name === "NamedParameter" ? nth(given, 1) : given;
  if (value.name === "VariableName") {
    compilePart(value, place);
    const name = nameOf(value, place);
    return (scope) => find(scope, name) !== undefined;
  }
  if (value.name === "PathExpression") {
    const target = compileNth(value, 0, place);
    const name = nameOf(nth(value, 2), place);
    return (scope) => {
      const value = target(scope);
      return Array.isArray(value) || ownProperty(value, name) !== undefined;
    };
  }
  const code = compilePart(value, place);
  return (scope) => code(scope) !== undefined;
}
