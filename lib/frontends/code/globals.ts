import { isGuarded } from "./guards.ts";
import { keptStep } from "./kept-steps.ts";
import { runsAtLoad } from "./load-scope.ts";
import { nestedDeclaration } from "./nested-declarations.ts";
import type { Finding, Problem } from "./report.ts";
import type { Names, Reference } from "./syntax/names.ts";
import { isOf, type Node } from "./syntax/tree.ts";
import { AVAILABLE_CRYPTO, NATIVE_COMPOSITES, UNAVAILABLE } from "./unavailable.ts";

type Context = Readonly<{
  names: Names;
  declaredInSdk(node: Node): boolean;
  /** Whether an author wrote it, and no tool. */
  isAuthors(node: Node): boolean;
}>;

/** What is wrong with one use of a name, if anything. */
export function findingOf(reference: Reference, context: Context): Finding | undefined {
  const problem = problemOf(reference, context);
  if (problem === undefined || isGuarded(reference, context.names)) return undefined;
  const { line, column } = reference.node.loc?.start ?? { line: 1, column: 0 };
  return { ...problem, line, column: column + 1 };
}

function problemOf(reference: Reference, context: Context): Problem | undefined {
  const { names, declaredInSdk, isAuthors } = context;
  const { binding, node } = reference;
  if (binding === undefined) {
    const problem = problemOfGlobal(reference, names);
    return problem ?? problemAtLoad(reference, names, globalSource(reference, names));
  }
  const source = sdkSource(reference, names);
  const wrong = keptStep(reference, names) ?? nestedDeclaration(reference, context);
  if (source === undefined && wrong === undefined) return undefined;
  if (!declaredInSdk(binding.identifier) || !isAuthors(node)) return undefined;
  return wrong ?? problemAtLoad(reference, names, source);
}

/** Only what runs at load is refused: the image of the loaded program is shared by all instances. */
function problemAtLoad({ node }: Reference, names: Names, source?: Source): Problem | undefined {
  if (source === undefined || !runsAtLoad(node, names)) return undefined;
  return {
    severity: "error",
    code: source.of === "clock" ? "code/clock-at-load" : "code/chance-at-load",
    message: `\`${source.text}\` runs while the file is loaded, once for all instances.`,
    hint: "Call it inside of the workflow's function.",
  };
}

function problemOfGlobal({ node, name }: Reference, names: Names): Problem | undefined {
  const member = memberOf(node, names);
  if (name === "console") return CONSOLE;
  if (name === "Promise" && member !== undefined) return nativePromise(member);
  if (name === "crypto" && member !== undefined && !AVAILABLE_CRYPTO.has(member)) {
    return missing(`crypto.${member}`, "Do it in a step, and call the step from the workflow.");
  }
  if (name === "globalThis" && member !== undefined && isNeeded(node, names)) {
    const hint = UNAVAILABLE.get(member);
    return hint === undefined ? undefined : missing(`globalThis.${member}`, hint);
  }
  const hint = UNAVAILABLE.get(name);
  return hint === undefined ? undefined : missing(name, hint);
}

const CONSOLE: Problem = {
  severity: "warning",
  code: "code/console",
  message: "`console` has no effect in a workflow.",
  hint: "Log in a step, or leave it out: the history shows every operation.",
};

function missing(what: string, hint: string): Problem {
  const message = `\`${what}\` does not exist in a workflow.`;
  return { severity: "error", code: "code/not-in-workflow", message, hint };
}

function nativePromise(method: string): Problem | undefined {
  const instead = NATIVE_COMPOSITES.get(method);
  if (instead === undefined) return undefined;
  return {
    severity: "warning",
    code: "code/native-promise",
    message: `\`Promise.${method}\` leaves open what lost: its timers fire and its events are taken.`,
    hint: `Use \`${instead}\` of fermata-engine/workflow.`,
  };
}

type Source = Readonly<{ of: "clock" | "chance"; text: string }>;

function globalSource({ node, name }: Reference, names: Names): Source | undefined {
  const parent = names.parentOf(node);
  const member = memberOf(node, names);
  if (name === "Date" && member === "now") return { of: "clock", text: "Date.now()" };
  if (name === "Date" && parent?.type === "NewExpression" && parent.callee === node) {
    return parent.arguments.length === 0 ? { of: "clock", text: "new Date()" } : undefined;
  }
  if (name === "Date" && isCallee(node, parent)) return { of: "clock", text: "Date()" };
  if (name === "Math" && member === "random") return { of: "chance", text: "Math.random()" };
  if (name === "crypto" && member === "randomUUID") {
    return { of: "chance", text: "crypto.randomUUID()" };
  }
  return undefined;
}

const SDK_SOURCES: ReadonlyMap<string, Source["of"]> = new Map([
  ["now", "clock"],
  ["uuid", "chance"],
  ["random", "chance"],
]);

/** esbuild appends a number where two files use one name. */
function sdkSource({ node, name }: Reference, names: Names): Source | undefined {
  const written = name.replace(/\d+$/, "");
  const of = SDK_SOURCES.get(written);
  if (of === undefined || !isCallee(node, names.parentOf(node))) return undefined;
  return { of, text: `${written}()` };
}

function isCallee(node: Node, parent: Node | undefined): boolean {
  return parent?.type === "CallExpression" && parent.callee === node;
}

/** The `b` of `a.b` and of `a["b"]`. */
function memberOf(node: Node, names: Names): string | undefined {
  const parent = names.parentOf(node);
  if (parent?.type !== "MemberExpression" && parent?.type !== "OptionalMemberExpression") {
    return undefined;
  }
  if (parent.object !== node) return undefined;
  if (parent.property.type === "StringLiteral") return parent.property.value;
  return parent.property.type === "Identifier" && !parent.computed
    ? parent.property.name
    : undefined;
}

/** Whether `globalThis.x` must be there: it is called, or a member of it is read without `?.`. */
function isNeeded(node: Node, names: Names): boolean {
  const member = names.parentOf(node);
  const user = member === undefined ? undefined : names.parentOf(member);
  if (isOf(user, "CallExpression", "NewExpression")) return user.callee === member;
  return isOf(user, "MemberExpression") && user.object === member;
}
