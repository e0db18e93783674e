import { type Draft, excerpt, keepTicket, raiseIncident } from "./draft.ts";
import { isFamily, memberName, withoutMember } from "./family.ts";
import type { FamilyTicket, IncidentTicket, IncidentType, TaskTicket, Ticket } from "./instance.ts";

/** The phase of an incident that stands for members of a family. */
export const MEMBERS = "members";

/**
 * Takes a member out of its family until an incident is resolved, and its task is run again then.
 * Members that are in the same trouble share one: however many there are, the instance stays small.
 */
export function shelveMember(
  draft: Draft,
  { id, ref, element, member }: TaskTicket & Readonly<{ member: number }>,
  why: Why,
): void {
  const isIts = (family: FamilyTicket) => memberName(family.id, member) === id;
  for (const family of draft.tickets.filter(isFamily).filter(isIts)) {
    shelve(draft, { family, member, ref, element }, why);
  }
}

type Shelved = Readonly<{ family: FamilyTicket; member: number; ref: number; element: string }>;

function shelve(draft: Draft, { family, member, ref, element }: Shelved, why: Why): void {
  keepTicket(draft, withoutMember(family, member));
  const shared = draft.tickets.find(
    (ticket): ticket is IncidentTicket & Shelf =>
      isShelf(ticket) && ticket.members.family === family.id && ticket.type === why.type,
  );
  if (shared) {
    const numbers = [...shared.members.numbers, member];
    keepTicket(draft, { ...shared, members: { ...shared.members, numbers } });
    return;
  }
  const message = excerpt(`Entry ${member + 1} of the list: ${why.message}`);
  const members = { family: family.id, numbers: [member] };
  raiseIncident(draft, { type: why.type, message, ref, element, phase: MEMBERS, members });
}

type Why = Readonly<{ type: IncidentType; message: string }>;
type Shelf = Readonly<{ members: NonNullable<IncidentTicket["members"]> }>;

const isShelf = (ticket: Ticket): ticket is IncidentTicket & Shelf =>
  ticket.on === "incident" && ticket.members !== undefined;
