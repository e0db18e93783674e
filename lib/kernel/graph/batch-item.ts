/** Items of a multi-instance activity: what each sees, and how an item of a batch becomes a token. */
import type { Loop } from "../../definition/graph.ts";
import type { Variables } from "../../definition/json.ts";
import { batchOf, isBatch, isOfCalls, itemsOf, withoutItem } from "../batch.ts";
import { withoutBit } from "../bits.ts";
import { closeTicket, type Draft, emit, keepTicket, noteVisit, reopenTicket } from "../draft.ts";
import type { FailedItems } from "../failed-items.ts";
import type { BatchTicket, ChildTicket, TaskTicket } from "../instance.ts";
import type { TrailType } from "../trail.ts";
import { loopAt } from "./plan.ts";
import { put, type Run } from "./run.ts";
import { type Body, type Token, type Tree, tokenAt } from "./state.ts";
import { visibleFrom } from "./variables.ts";

/** The multi-instance body of a token. */
export function bodyOf({ body, node }: Token): Body {
  if (body === undefined) throw new Error(`The token at "${node}" is no body of a loop.`);
  return body;
}

/** Local variables that an item starts with; its output may be one of its inputs. */
export function localsOf({ element, output }: Loop, body: Body, member: number): Variables {
  return {
    ...(output?.preset !== undefined && { [output.preset]: null }),
    ...(element !== undefined && { [element]: body.items[member] ?? null }),
    loopCounter: member + 1,
    ...body.inputs?.[member],
  };
}

/** Everything that an item of a batch sees. */
export function visibleTo(tree: Tree, around: Token, loop: Loop, member: number): Variables {
  return { ...visibleFrom(tree, around), ...localsOf(loop, bodyOf(around), member) };
}

/** The token that an outcome is for: an item of a batch becomes one, and leaves the batch. */
export function tokenFor(run: Run, { id, ref }: TaskTicket | ChildTicket): number {
  const found = batchOf(run.draft.tickets, id);
  if (found === undefined) {
    closeTicket(run.draft, id);
    return ref;
  }
  const { batch, member } = found;
  keepTicket(run.draft, withoutItem(batch, member));
  const around = tokenAt(run, ref);
  const variables = localsOf(loopAt(run.plan, around.node), bodyOf(around), member);
  const { node, thrown } = around;
  return put(run, ref, node, { variables, thrown, member, id: numberOf(around, member) });
}

/** The token number of an item of a batch, before and after it becomes a token. */
function numberOf(around: Token, member: number): number | undefined {
  const { first } = bodyOf(around);
  return first === undefined ? undefined : first + member;
}

/** Records in history the outcome of a task or a call, and which item it was. */
export function noteOutcome(
  run: Run,
  type: TrailType,
  { ref, element, member }: TaskTicket | ChildTicket,
  about: Variables = {},
): void {
  const occurrence = member === undefined ? ref : numberOf(tokenAt(run, ref), member);
  const data = member === undefined ? about : { ...about, loopCounter: member + 1 };
  const isAny = Object.keys(data).length > 0;
  noteVisit(run.draft, type, { element, occurrence, ...(isAny && { data }) });
}

/** Reopens the items that an incident stands for; the trigger that decides this sends them. */
export function openItems(
  { draft }: Run,
  { members }: FailedItems,
  retries: number | undefined,
): void {
  const batches = draft.tickets.filter(isBatch);
  for (const batch of batches.filter(({ id }) => id === members.family)) {
    const taken = members.numbers.reduce(withoutBit, batch.taken);
    const said = retries !== undefined && !isOfCalls(batch) && { retries };
    reopenTicket(draft, { ...batch, taken, ...said });
  }
}

/**
 * Ends a multi-instance activity before all of its items have completed. History records each item
 * that is cut short. Called processes are cancelled by one outbox record for all of them, so that
 * the instance stays small.
 */
export function endBatches(draft: Draft, around: Token): void {
  for (const batch of draft.tickets.filter(isBatch).filter(({ ref }) => ref === around.id)) {
    const left = itemsOf(batch);
    for (const { member } of left) {
      const visit = { element: batch.element, occurrence: numberOf(around, member) };
      noteVisit(draft, "element-terminated", visit);
    }
    if (left.length > 0 && isAwaiting(batch)) {
      const { id, size, taken } = batch;
      emit(draft, { kind: "cancel-children", family: id, size, taken });
    }
  }
}

const isAwaiting = (batch: BatchTicket): boolean => isOfCalls(batch) && !batch.call.detached;
