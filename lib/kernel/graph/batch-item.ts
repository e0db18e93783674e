/** Members of a loop: what each of them sees, and how one of a family becomes a token. */
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

/** The body that a token of a loop is. */
export function bodyOf({ body, node }: Token): Body {
  if (body === undefined) throw new Error(`The token at "${node}" is no body of a loop.`);
  return body;
}

/** Local variables that a member begins with; what it gathers may be one that it is given. */
export function localsOf({ element, output }: Loop, body: Body, member: number): Variables {
  return {
    ...(output?.preset !== undefined && { [output.preset]: null }),
    ...(element !== undefined && { [element]: body.items[member] ?? null }),
    loopCounter: member + 1,
    ...body.inputs?.[member],
  };
}

/** Everything that a member of a family sees. */
export function visibleTo(tree: Tree, around: Token, loop: Loop, member: number): Variables {
  return { ...visibleFrom(tree, around), ...localsOf(loop, bodyOf(around), member) };
}

/** The token that an outcome is for: a member of a family becomes one, and leaves the family. */
export function tokenFor(run: Run, { id, ref }: TaskTicket | ChildTicket): number {
  const kin = batchOf(run.draft.tickets, id);
  if (kin === undefined) {
    closeTicket(run.draft, id);
    return ref;
  }
  const { family, member } = kin;
  keepTicket(run.draft, withoutItem(family, member));
  const around = tokenAt(run, ref);
  const variables = localsOf(loopAt(run.plan, around.node), bodyOf(around), member);
  const { node, thrown } = around;
  return put(run, ref, node, { variables, thrown, member, id: numberOf(around, member) });
}

/** The number that a member of a family has, before and once it is a token. */
function numberOf(around: Token, member: number): number | undefined {
  const { first } = bodyOf(around);
  return first === undefined ? undefined : first + member;
}

/** Tells in history what came of a task or a call, and which member of a loop it was. */
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

/** Opens the members again that an incident stands for; whoever has decided that sends them. */
export function openItems(
  { draft }: Run,
  { members }: FailedItems,
  retries: number | undefined,
): void {
  const families = draft.tickets.filter(isBatch);
  for (const family of families.filter(({ id }) => id === members.family)) {
    const taken = members.numbers.reduce(withoutBit, family.taken);
    const said = retries !== undefined && !isOfCalls(family) && { retries };
    reopenTicket(draft, { ...family, taken, ...said });
  }
}

/**
 * A loop ends before all of its members are done. History tells of each that is cut short; those
 * that call wait for children, and these are to be cancelled: one order for all of them, so that the
 * instance stays small.
 */
export function endBatches(draft: Draft, around: Token): void {
  for (const family of draft.tickets.filter(isBatch).filter(({ ref }) => ref === around.id)) {
    const left = itemsOf(family);
    for (const { member } of left) {
      const visit = { element: family.element, occurrence: numberOf(around, member) };
      noteVisit(draft, "element-terminated", visit);
    }
    if (left.length > 0 && isAwaiting(family)) {
      const { id, size, taken } = family;
      emit(draft, { kind: "cancel-children", family: id, size, taken });
    }
  }
}

const isAwaiting = (family: BatchTicket): boolean => isOfCalls(family) && !family.call.detached;
