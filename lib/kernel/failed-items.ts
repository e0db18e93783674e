import { type BatchItem, isBatch, itemName, withoutItem } from "./batch.ts";
import { type Draft, excerpt, keepTicket, raiseIncident } from "./draft.ts";
import type { BatchTicket, IncidentTicket, IncidentType, Ticket } from "./instance.ts";

/** The phase of an incident that stands for members of a family: they are opened again. */
export const MEMBERS = "members";
/** The same for members whose children are over, and not as they should: they are called anew. */
export const CALLS = "calls";

/**
 * Takes a member out of its family until an incident is resolved. Members that are in the same
 * trouble share one: however many there are, the instance stays small.
 */
export function keepFailedItem(
  draft: Draft,
  { id, ref, element, member }: BatchItem,
  why: Why,
  phase: typeof MEMBERS | typeof CALLS = MEMBERS,
): void {
  const isIts = (family: BatchTicket) => itemName(family.id, member) === id;
  for (const family of draft.tickets.filter(isBatch).filter(isIts)) {
    shelve(draft, { family, member, ref, element, phase }, why);
  }
}

type Shelved = Readonly<{
  family: BatchTicket;
  member: number;
  ref: number;
  element: string;
  phase: string;
}>;

function shelve(draft: Draft, shelved: Shelved, why: Why): void {
  const { family, member, ref, element, phase } = shelved;
  keepTicket(draft, withoutItem(family, member));
  const shared = draft.tickets
    .filter(holdsFailedItems)
    .find((shelf) => isLike(shelf, shelved, why));
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
export type FailedItems = IncidentTicket &
  Readonly<{ members: NonNullable<IncidentTicket["members"]> }>;

export const holdsFailedItems = (ticket: Ticket): ticket is FailedItems =>
  ticket.on === "incident" && ticket.members !== undefined;

const isLike = (shelf: FailedItems, { family, phase }: Shelved, why: Why): boolean =>
  shelf.members.family === family.id && shelf.type === why.type && shelf.phase === phase;
