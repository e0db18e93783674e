import { type Draft, excerpt, keepTicket, raiseIncident } from "./draft.ts";
import { isFamily, parseMember, withoutMember } from "./family.ts";
import type { IncidentTicket, IncidentType, TaskTicket, Ticket } from "./instance.ts";

/** The phase of an incident that stands for members of a family. */
export const MEMBERS = "members";

/**
 * Takes a member out of its family until an incident is resolved, and its task is run again then.
 * Members that are in the same trouble share one: however many there are, the instance stays small.
 */
export function shelveMember(draft: Draft, { id, ref, element }: TaskTicket, why: Why): void {
  const named = parseMember(id);
  const family = draft.tickets.filter(isFamily).find((open) => open.id === named?.family);
  if (named === undefined || family === undefined) return;
  keepTicket(draft, withoutMember(family, named.member));
  const shared = draft.tickets.find(
    (ticket): ticket is IncidentTicket & Shelf =>
      isShelf(ticket) && ticket.members.family === family.id && ticket.type === why.type,
  );
  if (shared) {
    const numbers = [...shared.members.numbers, named.member];
    keepTicket(draft, { ...shared, members: { ...shared.members, numbers } });
    return;
  }
  const message = excerpt(`Entry ${named.member + 1} of the list: ${why.message}`);
  const members = { family: family.id, numbers: [named.member] };
  raiseIncident(draft, { type: why.type, message, ref, element, phase: MEMBERS, members });
}

type Why = Readonly<{ type: IncidentType; message: string }>;
type Shelf = Readonly<{ members: NonNullable<IncidentTicket["members"]> }>;

const isShelf = (ticket: Ticket): ticket is IncidentTicket & Shelf =>
  ticket.on === "incident" && ticket.members !== undefined;
