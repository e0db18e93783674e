/** Members of a loop: what each of them sees, and how one of a family becomes a token. */
import type { Loop } from "../../definition/graph.ts";
import type { Variables } from "../../definition/json.ts";
import { withoutBit } from "../bits.ts";
import { closeTicket, type Draft, emit, keepTicket, note, reopenTicket } from "../draft.ts";
import { isFamily, isOfCalls, kinOf, openIn, withoutMember } from "../family.ts";
import type { ChildTicket, FamilyTicket, TaskTicket } from "../instance.ts";
import type { Shelf } from "../shelve.ts";
import { loopAt } from "./plan.ts";
import { put, type Run } from "./run.ts";
import { type Body, type Token, type Tree, tokenAt } from "./state.ts";
import { visibleFrom } from "./variables.ts";

/** The body that a token of a loop is. */
export function bodyOf({ body, node }: Token): Body {
  if (body === undefined) throw new Error(`The token at "${node}" is no body of a loop.`);
  return body;
}

/** Local variables that a member begins with. */
export function localsOf({ element, output }: Loop, body: Body, member: number): Variables {
  return {
    ...(element !== undefined && { [element]: body.items[member] ?? null }),
    loopCounter: member + 1,
    ...(output?.preset !== undefined && { [output.preset]: null }),
    ...body.inputs?.[member],
  };
}

/** Everything that a member of a family sees. */
export function visibleTo(tree: Tree, around: Token, loop: Loop, member: number): Variables {
  return { ...visibleFrom(tree, around), ...localsOf(loop, bodyOf(around), member) };
}

/** The token that an outcome is for: a member of a family becomes one, and leaves the family. */
export function tokenFor(run: Run, { id, ref }: TaskTicket | ChildTicket): number {
  const kin = kinOf(run.draft.tickets, id);
  if (kin === undefined) {
    closeTicket(run.draft, id);
    return ref;
  }
  const { family, member } = kin;
  keepTicket(run.draft, withoutMember(family, member));
  const around = tokenAt(run, ref);
  const variables = localsOf(loopAt(run.plan, around.node), bodyOf(around), member);
  return put(run, ref, around.node, { variables, thrown: around.thrown, member });
}

/** Which member of a loop history tells of. */
export const placeOf = ({
  member,
}: TaskTicket | ChildTicket): { loopCounter: number } | undefined =>
  member === undefined ? undefined : { loopCounter: member + 1 };

/** Opens the members again that an incident stands for; whoever has decided that sends them. */
export function openMembers({ draft }: Run, { members }: Shelf, retries: number | undefined): void {
  const families = draft.tickets.filter(isFamily);
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
export function endFamilies(draft: Draft, body: number): void {
  for (const family of draft.tickets.filter(isFamily).filter(({ ref }) => ref === body)) {
    const left = openIn(family);
    for (let n = 0; n < left; n += 1) note(draft, "element-terminated", family.element);
    if (left > 0 && isAwaiting(family)) {
      const { id, size, taken } = family;
      emit(draft, { kind: "cancel-children", family: id, size, taken });
    }
  }
}

const isAwaiting = (family: FamilyTicket): boolean => isOfCalls(family) && !family.call.detached;
