/** Members of a loop: what each of them sees, and how one of a family becomes a token. */
import type { Loop } from "../../definition/graph.ts";
import type { Variables } from "../../definition/json.ts";
import { withoutBit } from "../bits.ts";
import { closeTicket, type Draft, keepTicket, note, reopenTicket } from "../draft.ts";
import { isFamily, openIn, withoutMember } from "../family.ts";
import type { FamilyTicket, IncidentTicket, TaskTicket } from "../instance.ts";
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
export function tokenFor(run: Run, { id, ref, member }: TaskTicket): number {
  const family = member === undefined ? undefined : familyOf(run.draft, ref);
  if (member === undefined || family === undefined) {
    closeTicket(run.draft, id);
    return ref;
  }
  keepTicket(run.draft, withoutMember(family, member));
  const around = tokenAt(run, ref);
  const variables = localsOf(loopAt(run.plan, around.node), bodyOf(around), member);
  return put(run, ref, around.node, { variables, thrown: around.thrown, member });
}

/** Opens the members again that an incident stands for; whoever has decided that sends them. */
export function openMembers(
  { draft }: Run,
  { ref, members }: IncidentTicket,
  retries: number | undefined,
): void {
  for (const family of draft.tickets.filter(isFamily).filter((open) => open.ref === ref)) {
    const taken = members?.numbers.reduce(withoutBit, family.taken);
    const said = retries !== undefined && { retries };
    reopenTicket(draft, { ...family, ...(taken !== undefined && { taken }), ...said });
  }
}

/** History tells of each member that is cut short. */
export function noteEndOfFamily(draft: Draft, body: number): void {
  const family = familyOf(draft, body);
  if (family === undefined) return;
  for (let left = openIn(family); left > 0; left -= 1) {
    note(draft, "element-terminated", family.element);
  }
}

const familyOf = ({ tickets }: Draft, body: number): FamilyTicket | undefined =>
  tickets.filter(isFamily).find(({ ref }) => ref === body);
