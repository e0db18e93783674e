import { type BatchItem, isBatch, itemName, withoutItem } from "./batch.ts";
import { type Draft, excerpt, keepTicket, raiseIncident } from "./draft.ts";
import type { BatchTicket, IncidentTicket, IncidentType, Ticket } from "./instance.ts";

/** The phase of an incident that stands for items of a batch: resolving it reopens them. */
export const MEMBERS = "members";
/** The same for items whose called processes ended without success: resolving it calls them again. */
export const CALLS = "calls";

/**
 * Takes an item out of its batch until an incident is resolved. Items that failed alike share one
 * incident, so that the instance stays small however many there are.
 */
export function keepFailedItem(
  draft: Draft,
  { id, ref, element, member }: BatchItem,
  why: Why,
  phase: typeof MEMBERS | typeof CALLS = MEMBERS,
): void {
  const isIts = (batch: BatchTicket) => itemName(batch.id, member) === id;
  for (const batch of draft.tickets.filter(isBatch).filter(isIts)) {
    setAside(draft, { batch, member, ref, element, phase }, why);
  }
}

type FailedItem = Readonly<{
  batch: BatchTicket;
  member: number;
  ref: number;
  element: string;
  phase: string;
}>;

function setAside(draft: Draft, failed: FailedItem, why: Why): void {
  const { batch, member, ref, element, phase } = failed;
  keepTicket(draft, withoutItem(batch, member));
  const shared = draft.tickets
    .filter(holdsFailedItems)
    .find((incident) => isLike(incident, failed, why));
  if (shared) {
    const numbers = [...shared.members.numbers, member];
    keepTicket(draft, { ...shared, members: { ...shared.members, numbers } });
    return;
  }
  const { title = `Entry ${member + 1} of the list`, ...said } = why;
  const message = excerpt(`${title}: ${why.message}`);
  const members = { family: batch.id, numbers: [member] };
  raiseIncident(draft, { ...said, message, ref, element, phase, members });
}

/** What an incident says; `title` is what the message calls the item. */
export type Why = Readonly<{ type: IncidentType; message: string; title?: string | undefined }> &
  Pick<IncidentTicket, "site">;

/** An incident that stands for items of a batch. */
export type FailedItems = IncidentTicket &
  Readonly<{ members: NonNullable<IncidentTicket["members"]> }>;

export const holdsFailedItems = (ticket: Ticket): ticket is FailedItems =>
  ticket.on === "incident" && ticket.members !== undefined;

const isLike = (incident: FailedItems, { batch, phase }: FailedItem, why: Why): boolean =>
  incident.members.family === batch.id && incident.type === why.type && incident.phase === phase;
