/**
 * Multi-instance: an activity that runs once for each entry of a list.
 *
 * 1. The body is a token at the activity. It has evaluated the list once and keeps it; boundary
 *    events belong to it, and interrupting it ends every item.
 * 2. An item is a token inside the body at the same node, with its entry, its number and its input
 *    mappings as local variables. Items run one after the other, or as many at once as one instance
 *    may have tickets for: the next starts when one completes.
 * 3. A longer list of tasks, or of calls, is a batch: one ticket of the body, and an item becomes a
 *    token only when it has completed or failed. Its inputs are computed when the body is entered.
 * 4. When an item completes, its outputs are mapped, its output element is collected at its place
 *    in the body, and the completion condition is evaluated; only then the token is removed.
 * 5. The output of the body is written when the body completes, and not when it is interrupted.
 */
import type { Lookup } from "../../definition/expression.ts";
import type { Loop } from "../../definition/graph.ts";
import type { Json, Variables } from "../../definition/json.ts";
import { MAX_LOOP_MEMBERS, MAX_MEMBERS_AT_ONCE } from "../../definition/limits.ts";
import { noteVisit } from "../draft.ts";
import { Refusal } from "../refusal.ts";
import { batchFor, beginBatch } from "./batch.ts";
import { bodyOf, endBatches, localsOf } from "./batch-item.ts";
import { demand, valueFrom } from "./evaluate.ts";
import { interruptInside } from "./interrupt.ts";
import { loopAt, type Spot } from "./plan.ts";
import { arrive, leavePath, push, type Run } from "./run.ts";
import { type Body, type Phase, type Token, tokenAt } from "./state.ts";
import { lookupFrom, own, propagate } from "./variables.ts";
import { openWaits, waitsOf } from "./wait.ts";

/** Enters the body: computes the list, then everything that could fail, then starts the items. */
export async function enterBody(
  run: Run,
  token: Token,
  spot: Spot,
  loop: Loop,
): Promise<Phase | undefined> {
  const lookup = lookupFrom(run, token);
  const items = await demand(run, { kind: "list", of: loop.collection, lookup });
  if (items.length > MAX_LOOP_MEMBERS) throw tooMany(items.length);
  const body: Body = { items, begun: 0, done: 0, ...pagesFor(loop, items.length) };
  const entered = { ...token, body };
  if (items.length === 0) {
    run.tokens.set(token.id, entered);
    return "complete";
  }
  const batch = await batchFor(run, entered, spot, loop);
  if (!openWaits(run, token, await waitsOf(run, token))) return undefined;
  if (batch) beginBatch(run, entered, batch);
  else beginMembers(run, entered, loop);
  return undefined;
}

/** The last phase of an item: the body collects its output. */
export async function leaveItem(run: Run, token: Token, member: number): Promise<undefined> {
  const { draft } = run;
  const loop = loopAt(run.plan, token.node);
  const lookup = lookupFrom(run, token);
  const value = loop.output && (await valueFrom(run, loop.output.element, lookup));
  const around = tokenAt(run, token.in);
  const body = withOutput(bodyOf(around), member, value);
  const isOver = await mayEnd(run, loop, body, lookup);
  noteVisit(draft, "element-completed", { element: token.node, occurrence: token.id });
  run.tokens.delete(token.id);
  leavePath(run, token);
  const left = { ...tokenAt(run, around.id), body };
  run.tokens.set(left.id, left);
  if (!isOver) {
    beginMembers(run, left, loop);
    return undefined;
  }
  interruptInside(run, left.id);
  endBatches(draft, left);
  push(run, "complete", left.id);
  return undefined;
}

/** The body completes: the collected output goes to the scope around it. */
export function handOut(run: Run, token: Token, { outputs }: Body, loop: Loop | undefined): void {
  if (loop?.output === undefined || outputs === undefined) return;
  propagate(run, tokenAt(run, token.in), { [loop.output.collection]: outputs.flat() });
}

async function mayEnd(run: Run, { output, until }: Loop, body: Body, seen: Lookup) {
  if (until === undefined || body.done === body.items.length) {
    return body.done === body.items.length;
  }
  const named: Variables = {
    ...(output && body.outputs && { [output.collection]: body.outputs.flat() }),
    numberOfInstances: body.items.length,
    numberOfActiveInstances: body.begun - body.done,
    numberOfCompletedInstances: body.done,
    numberOfTerminatedInstances: 0,
  };
  const lookup: Lookup = (name) => own(named, name) ?? seen(name);
  return demand(run, { kind: "boolean", of: until, lookup });
}

/** Starts as many items as may run at once. */
function beginMembers(run: Run, around: Token, loop: Loop): void {
  const body = bodyOf(around);
  const atOnce = loop.sequential ? 1 : MAX_MEMBERS_AT_ONCE;
  const begun = Math.min(body.items.length, body.done + atOnce);
  const { id, node, thrown } = around;
  run.tokens.set(id, { ...around, body: { ...body, begun: Math.max(begun, body.begun) } });
  for (let member = body.begun; member < begun; member += 1) {
    arrive(run, id, node, { variables: localsOf(loop, body, member), thrown, member });
  }
}

/**
 * Pages are small enough to be rewritten with each of their entries, and few enough to name them
 * all.
 */
function pagesFor({ output }: Loop, size: number): Pick<Body, "outputs"> {
  if (output === undefined) return {};
  const length = pageLength(size);
  const outputs = Array.from({ length: Math.ceil(size / length) }, (_, page) =>
    Array.from({ length: Math.min(length, size - page * length) }, () => null),
  );
  return { outputs };
}

const pageLength = (size: number): number => Math.max(MIN_PAGE, Math.ceil(size / MAX_PAGES));
const MIN_PAGE = 16;
const MAX_PAGES = 32;

function withOutput(body: Body, member: number, value: Json | undefined): Body {
  const done = body.done + 1;
  if (body.outputs === undefined || value === undefined) return { ...body, done };
  const length = pageLength(body.items.length);
  const page = Math.floor(member / length);
  const outputs = body.outputs.map((values, n) =>
    n === page ? values.with(member % length, value) : values,
  );
  return { ...body, done, outputs };
}

function tooMany(found: number): Refusal {
  return new Refusal(
    "TOO_MANY_OPEN_TICKETS",
    `The list has ${found} entries, ${MAX_LOOP_MEMBERS} is the limit. Let the loop go through parts of it, then resolve this.`,
  );
}
