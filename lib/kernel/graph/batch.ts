/**
 * How a multi-instance activity starts as a batch, and how items of a batch of calls are called
 * again.
 */
import type { Loop } from "../../definition/graph.ts";
import type { Variables } from "../../definition/json.ts";
import { MAX_MEMBERS_APART } from "../../definition/limits.ts";
import { isBatch, isOfCalls, openIn } from "../batch.ts";
import { gapsIn, withBit } from "../bits.ts";
import { closeTicket, type Draft, noteVisit, openTicket } from "../draft.ts";
import { type FailedItems, holdsFailedItems } from "../failed-items.ts";
import type { CallBatch, TaskBatch } from "../instance.ts";
import { Refusal } from "../refusal.ts";
import { bodyOf, localsOf } from "./batch-item.ts";
import { calledFrom, processOf } from "./call.ts";
import { inputsFor } from "./mapping.ts";
import { loopAt, type Spot } from "./plan.ts";
import { type Run, reserve } from "./run.ts";
import { type Token, tokenAt } from "./state.ts";
import { type Order, orderOf } from "./task.ts";

/** What the items of a batch have in common, and the result of the input mappings of each. */
type NewBatch = Readonly<{ shared: Shared; inputs?: readonly Variables[] }>;

type Shared = Pick<TaskBatch, "type" | "retries" | "backoff"> | Pick<CallBatch, "call">;

/** The batch of a multi-instance activity: many tasks, or calls, that differ only in their inputs. */
export async function batchFor(
  run: Run,
  around: Token,
  spot: Spot,
  loop: Loop,
): Promise<NewBatch | undefined> {
  const { node } = spot;
  const place = { around, spot, loop };
  if (loop.sequential || bodyOf(around).items.length <= MAX_MEMBERS_APART) return undefined;
  // User tasks are not batched: each is claimed and unclaimed by itself.
  if (node.kind === "task" && !node.person) {
    const isFixed = node.type.kind === "static" && node.retries.kind === "static";
    const isSame = (a: Order, b: Order) => a.type === b.type && a.retries === b.retries;
    const tasks = await alike(run, place, { isFixed, of: orderOf, isSame });
    if (tasks === undefined || tasks.common.retries < 1) return undefined;
    const { common, ...mapped } = tasks;
    return { ...mapped, shared: { ...common, ...(node.backoff && { backoff: node.backoff }) } };
  }
  if (node.kind === "call") {
    const isFixed = node.process.kind === "static";
    const isSame = (a: string, b: string) => a === b;
    const calls = await alike(run, place, { isFixed, of: processOf, isSame });
    if (calls === undefined) return undefined;
    const { common, ...mapped } = calls;
    return { ...mapped, shared: { call: calledFrom(run, around, common) } };
  }
  return undefined;
}

/** Starts the batch. */
export function beginBatch(run: Run, around: Token, { shared, inputs }: NewBatch): void {
  const { id: ref, node: element } = around;
  const body = bodyOf(around);
  const size = body.items.length;
  const first = reserve(run, size);
  for (let member = 0; member < size; member += 1) {
    noteVisit(run.draft, "element-entered", { element, occurrence: first + member });
  }
  openTicket(run.draft, { on: "family", ref, element, ...shared, size, taken: "" });
  const begun = { ...body, first, begun: size, ...(inputs && { inputs }) };
  run.tokens.set(ref, { ...around, body: begun });
}

/**
 * After their incident was resolved: calls again, with the variables visible now, so in another
 * batch. Which process is called may depend on the entry, and no longer be the same for all.
 */
export async function callAnew(run: Run, { ref, members }: FailedItems): Promise<void> {
  const { draft } = run;
  const batches = draft.tickets.filter(isBatch).filter(isOfCalls);
  for (const batch of batches.filter(({ id }) => id === members.family)) {
    const around = tokenAt(run, ref);
    for (const [process, those] of await processesOf(run, around, members.numbers)) {
      const { element, size } = batch;
      const others = gapsIn("", size).filter((member) => !those.has(member));
      const call = calledFrom(run, around, process);
      const taken = others.reduce(withBit, "");
      openTicket(draft, { on: "family", ref, element, call, size, taken });
    }
    if (openIn(batch) === 0 && !mayReopen(draft, batch)) closeTicket(draft, batch.id);
  }
}

/** The processes that these items call, by name. */
async function processesOf(
  run: Run,
  around: Token,
  numbers: readonly number[],
): Promise<readonly (readonly [process: string, members: ReadonlySet<number>])[]> {
  const loop = loopAt(run.plan, around.node);
  const called: Readonly<{ member: number; process: string }>[] = [];
  for (const member of numbers) {
    const token = memberToBe(around, localsOf(loop, bodyOf(around), member));
    called.push({ member, process: await naming(member, () => processOf(run, token)) });
  }
  return [...Map.groupBy(called, ({ process }) => process)].map(
    ([process, those]) => [process, new Set(those.map(({ member }) => member))] as const,
  );
}

/** Whether items that have left the batch may be reopened. */
const mayReopen = ({ tickets }: Draft, { id }: CallBatch): boolean =>
  tickets.filter(holdsFailedItems).some(({ members }) => members.family === id);

type Likeness<T> = Readonly<{
  /** The same for all of them, whatever they are given. */
  isFixed: boolean;
  of: (run: Run, token: Token) => Promise<T>;
  isSame: (a: T, b: T) => boolean;
}>;

/** A multi-instance activity: its body, its node with mappings, and its loop. */
type LoopPlace = Readonly<{ around: Token; spot: Spot; loop: Loop }>;

async function alike<T>(
  run: Run,
  { around, spot: { inputs }, loop }: LoopPlace,
  { isFixed, of, isSame }: Likeness<T>,
): Promise<Readonly<{ common: T; inputs?: readonly Variables[] }> | undefined> {
  const body = bodyOf(around);
  const mapped: Variables[] = [];
  let known: Readonly<{ common: T }> | undefined;
  for (const member of body.items.keys()) {
    const { found, locals } = await naming(member, async () => {
      const token = memberToBe(around, localsOf(loop, body, member));
      const locals = inputs.length > 0 ? await inputsFor(run, token, inputs) : {};
      const seen = { ...token, variables: { ...token.variables, ...locals } };
      return { locals, found: isFixed && known ? known.common : await of(run, seen) };
    });
    known ??= { common: found };
    if (!isSame(found, known.common)) return undefined;
    mapped.push(locals);
  }
  return known && { ...known, ...(inputs.length > 0 && { inputs: mapped }) };
}

/** An item that has no token number yet, to evaluate mappings with. */
const memberToBe = ({ node, id }: Token, variables: Variables): Token => ({
  id: -1,
  node,
  in: id,
  variables,
});

async function naming<T>(member: number, part: () => Promise<T>): Promise<T> {
  try {
    return await part();
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    throw new Refusal(cause.type, `Entry ${member + 1} of the list: ${cause.message}`);
  }
}
