import { type Draft, excerpt, keepTicket, raiseIncident } from "./draft.ts";
import { isFamily, type Member, memberName, withoutMember } from "./family.ts";
import type { FamilyTicket, IncidentTicket, IncidentType, Ticket } from "./instance.ts";

/** The phase of an incident that stands for members of a family: they are opened again. */
export const MEMBERS = "members";
/** The same for members whose children are over, and not as they should: they are called anew. */
export const CALLS = "calls";

/**
 * Takes a member out of its family until an incident is resolved. Members that are in the same
 * trouble share one: however many there are, the instance stays small.
 */
export function shelveMember(
  draft: Draft,
  { id, ref, element, member }: Member,
  why: Why,
  phase: typeof MEMBERS | typeof CALLS = MEMBERS,
): void {
  const isIts = (family: FamilyTicket) => memberName(family.id, member) === id;
  for (const family of draft.tickets.filter(isFamily).filter(isIts)) {
    shelve(draft, { family, member, ref, element, phase }, why);
  }
}

type Shelved = Readonly<{
  family: FamilyTicket;
  member: number;
  ref: number;
  element: string;
  phase: string;
}>;

function shelve(draft: Draft, shelved: Shelved, why: Why): void {
  const { family, member, ref, element, phase } = shelved;
  keepTicket(draft, withoutMember(family, member));
  const shared = draft.tickets.filter(isShelf).find((shelf) => isLike(shelf, shelved, why));
  if (shared) {
    const numbers = [...shared.members.numbers, member];
    keepTicket(draft, { ...shared, members: { ...shared.members, numbers } });
    return;
  }
  const message = excerpt(`Entry ${member + 1} of the list: ${why.message}`);
  const members = { family: family.id, numbers: [member] };
  raiseIncident(draft, { type: why.type, message, ref, element, phase, members });
}

type Why = Readonly<{ type: IncidentType; message: string }>;

/** An incident that stands for members. */
export type Shelf = IncidentTicket & Readonly<{ members: NonNullable<IncidentTicket["members"]> }>;

export const isShelf = (ticket: Ticket): ticket is Shelf =>
  ticket.on === "incident" && ticket.members !== undefined;

const isLike = (shelf: Shelf, { family, phase }: Shelved, why: Why): boolean =>
  shelf.members.family === family.id && shelf.type === why.type && shelf.phase === phase;
