/**
 * The engine's own code inside the machine, evaluated before the author's bundle. It is plain
 * JavaScript for QuickJS and keeps to what it captured at its start, so that a bundle that changes
 * built-in objects changes nothing for it.
 *
 * 1. Its value is a list of functions that the driver calls: `describe`, `begin`, `feed`, `take`.
 *    They take and return JSON text.
 * 2. A bundle reaches it through `__fermata`, the operation protocol: `open`, `close`, `publish` and
 *    what they need. The SDK in the bundle is its only user.
 * 3. An operation belongs to a scope. While the members of `all`, `any` or `race` are evaluated, each
 *    operation gets a scope of its own inside theirs. One that is opened while an outcome is handled
 *    belongs to the scope of the operation that it is the outcome of, so the operations that follow
 *    from each other share a scope. When a composite is decided, the scope is current again that it
 *    was called in.
 */
import {
  MAX_OPEN_OPERATIONS,
  MAX_OPERATIONS_PER_FEED,
  MAX_WAITS_PER_STEP,
} from "../../definition/limits.ts";

/** The version of `__fermata` and of the operations; a bundle that needs another is refused. */
export const PROTOCOL = 1;

/** The name of the bundle in stacks. */
export const BUNDLE_FILE = "workflow.js";

export const PRELUDE = `(() => {
"use strict";
const { parse, stringify } = JSON;
const { defineProperty, freeze, getOwnPropertyDescriptor } = Object;
const { apply } = Reflect;
const { imul } = Math;
const { captureStackTrace } = Error;
const PlainError = Error;
const Range = RangeError;
const List = Array;
const hide = (on, name, value) => defineProperty(on, name, { __proto__: null, value, writable: true, configurable: true });
const then = Promise.prototype.then;
const { slice } = String.prototype;

// Methods of their own: no bundle can reach these objects, and what it does to their prototypes has no effect.
const withMethods = (on, { prototype }, names) => {
  for (let i = 0; i < names.length; i++) hide(on, names[i], prototype[names[i]]);
  return on;
};
const aMap = () => withMethods(new Map(), Map, ["get", "set", "delete", "forEach"]);
const aList = () => withMethods([], List, ["push"]);

const open = aMap();
const workflows = aMap();
const workflowNames = aList();
const steps = aList();
let out = "";
let emitted = 0;
let isUnknown = false;
let next = 1;
let openCount = 0;
let waits = 0;
let end = "";
let scope = 0;
let scopes = 0;
let parents = [0];
let isEvaluating = false;
let about = {};
let isLoading = true;

// xoshiro128**, seeded by the driver.
let a = 1, b = 2, c = 3, d = 4;
const rotl = (x, k) => (x << k) | (x >>> (32 - k));
const draw = () => {
  const result = imul(rotl(imul(b, 5), 7), 9) >>> 0;
  const t = b << 9;
  c ^= a; d ^= b; b ^= c; a ^= d; c ^= t; d = rotl(d, 11);
  return result;
};
const random = () => {
  if (isLoading) throw new PlainError("Randomness in module scope would be the same in every instance. Call it inside the workflow.");
  return (draw() * 2097152 + (draw() >>> 11)) / 9007199254740992;
};
const hex = (n, length) => {
  let text = "";
  for (let i = 0; i < length; i++) text += "0123456789abcdef"[(n >>> (4 * i)) & 15];
  return text;
};
const uuid = () => {
  if (isLoading) random();
  return hex(draw(), 8) + "-" + hex(draw(), 4) + "-4" + hex(draw(), 3) + "-" + "89ab"[draw() & 3] + hex(draw(), 3) + "-" + hex(draw(), 8) + hex(draw(), 4);
};
hide(Math, "random", random);
hide(globalThis, "crypto", freeze({ randomUUID: uuid }));
hide(globalThis, "console", freeze({ log() {}, info() {}, warn() {}, error() {}, debug() {}, trace() {} }));

// It would show the functions of this file, and memory that threads share is of no use here.
delete PlainError.prepareStackTrace;
delete globalThis.SharedArrayBuffer;

const stacks = defineProperty({}, "limit", getOwnPropertyDescriptor(PlainError, "stackTraceLimit"));
const stackOf = (from) => {
  const holder = {};
  const limit = stacks.limit;
  stacks.limit = 1;
  captureStackTrace(holder, from);
  stacks.limit = limit;
  return holder.stack;
};
// One more than a step may ask for, so that the driver sees it; a loop without end then needs no memory.
const emit = (text) => {
  if (emitted++ <= ${MAX_OPERATIONS_PER_FEED}) out = out === "" ? text : out + "," + text;
};

const isWait = { event: true, signal: true, message: true, __proto__: null };
const bridge = freeze({
  protocol: ${PROTOCOL},
  /** Declares a workflow while the bundle is loaded; who deploys it refuses an id that comes twice. */
  workflow(id, run) {
    if (!isLoading) throw new PlainError("A workflow is declared in module scope, not inside another one.");
    workflows.set(id, run);
    workflowNames.push(id);
  },
  step(type) {
    if (!isLoading) throw new PlainError("The step " + stringify(type) + " is declared inside a workflow. Declare it at the top of a file, and export it.");
    steps.push(type);
  },
  /** Opens an operation; \`fields\` is JSON text without its braces, \`settle\` takes the outcome. */
  open(op, fields, settle, caller) {
    if (isLoading) throw new PlainError("An operation belongs inside a workflow, not in module scope.");
    if (openCount >= ${MAX_OPEN_OPERATIONS}) throw new Range("A workflow may have ${MAX_OPEN_OPERATIONS} operations open at a time.");
    if (isWait[op] && waits >= ${MAX_WAITS_PER_STEP}) throw new Range("A step may open ${MAX_WAITS_PER_STEP} waits for events, signals and messages. Wait for some before you open more.");
    if (isWait[op]) waits++;
    const n = next++;
    openCount++;
    const stack = stackOf(caller);
    open.set(n, { settle, scope: bridge.here(), stack });
    emit('{"op":"' + op + '","n":' + n + "," + fields + ',"at":' + stringify(stack) + "}");
    return n;
  },
  /** The operation lost: it is disarmed, and \`settle\` gets nothing any more. True if it was open. */
  close(n) {
    if (!open.delete(n)) return false;
    openCount--;
    emit('{"op":"close","n":' + n + "}");
    return true;
  },
  /** The same, and \`settle\` learns why. */
  cancel(n, why) {
    const it = open.get(n);
    if (it !== undefined && bridge.close(n)) it.settle({ cancelled: why });
  },
  /**
   * Operations of a scope, or of one inside it, that are still open; without those of the scopes
   * directly inside it that the scopes in \`but\` belong to.
   */
  openIn(wanted, but = []) {
    const kept = [];
    for (let i = 0; i < but.length; i++) hide(kept, i, branchOf(but[i], wanted));
    const found = [];
    open.forEach((it, n) => {
      if (!isWithin(it.scope, wanted)) return;
      for (let i = 0; i < kept.length; i++) if (kept[i] !== 0 && isWithin(it.scope, kept[i])) return;
      hide(found, found.length, n);
    });
    return found;
  },
  /** The scope of what the code does next; while members are evaluated, a new one inside theirs. */
  here() {
    return isEvaluating ? newScope(scope) : scope;
  },
  /** What the code does next belongs to this scope, until the next outcome is fed. */
  enter(wanted) {
    scope = wanted;
    isEvaluating = false;
  },
  /** Runs \`within\` in a scope of its own; returns its value and the scope. */
  scoped(within) {
    const outer = scope;
    const wasEvaluating = isEvaluating;
    const mine = (scope = newScope(outer));
    isEvaluating = true;
    try {
      return { value: within(), scope: mine };
    } finally {
      scope = outer;
      isEvaluating = wasEvaluating;
    }
  },
  publish(fields) {
    if (isLoading) throw new PlainError("A signal is published inside a workflow, not in module scope.");
    emit('{"op":"publish",' + fields + "}");
  },
  random,
  uuid,
  about: () => about,
});
const newScope = (inside) => {
  parents[++scopes] = inside;
  return scopes;
};
/** The scope directly inside \`outer\` that \`inner\` belongs to; 0 if it is not inside. */
const branchOf = (inner, outer) => {
  let at = inner;
  while (at !== 0 && parents[at] !== outer) at = parents[at];
  return at;
};
const isWithin = (inner, outer) => {
  for (let at = inner; at !== 0; at = parents[at]) if (at === outer) return true;
  return false;
};
defineProperty(globalThis, "__fermata", { value: bridge });

const text = (value) => (typeof value === "string" ? value : undefined);
// JSON text, cut: a message is short.
const shown = (thrown) => {
  const json = stringify(thrown) ?? "a value";
  return json.length > 500 ? apply(slice, json, [0, 500]) + "…" : json;
};
const errorOf = (thrown) => {
  try {
    if (typeof thrown === "object" && thrown !== null) {
      const { name, message, code, stack } = thrown;
      return { name: text(name), message: text(message) ?? "The workflow threw " + shown(thrown) + ", which is not an error.", code: text(code), stack: text(stack) };
    }
    return { message: "The workflow threw " + thrown + "." };
  } catch {
    return { message: "The workflow threw a value that has no text." };
  }
};

const describe = () => stringify({ workflows: workflowNames, steps });
const begin = (json) => {
  const { workflow, input, instance, seed } = parse(json);
  [a, b, c, d] = seed;
  about = freeze(instance);
  isLoading = false;
  const run = workflows.get(workflow);
  if (run === undefined) throw new PlainError("The bundle has no workflow " + stringify(workflow) + ".");
  const returned = (value) => { end = '{"value":' + (value === undefined ? "null" : value) + "}"; };
  const threw = (error) => { end = '{"error":' + stringify(errorOf(error)) + "}"; };
  apply(then, run(input), [returned, threw]);
};
const feed = (json) => {
  const done = parse(json);
  const n = done.n;
  const it = open.get(n);
  if (it === undefined) {
    isUnknown = true;
    return;
  }
  open.delete(n);
  openCount--;
  bridge.enter(it.scope);
  waits = 0;
  if (done.failure !== undefined) done.stack = it.stack;
  it.settle(done);
};
const take = () => {
  const answer = '{"operations":[' + out + "]" + (end === "" ? "" : ',"end":' + end) + (isUnknown ? ',"isUnknown":true}' : "}");
  out = "";
  emitted = 0;
  isUnknown = false;
  waits = 0;
  bridge.enter(0);
  return answer;
};
return [describe, begin, feed, take];
})()`;
