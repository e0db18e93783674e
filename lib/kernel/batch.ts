/**
 * Families: many like tasks, or many like calls, under one ticket.
 *
 * 1. Member n of the family `f8.1` is called `f8.1#n`. Whoever brings its outcome names it so, and
 *    finds a task or a call that looks like any other; only the family is stored.
 * 2. A member is open while its bit is not set and the family's ticket is there. Setting the bit is
 *    what consumes it, so an outcome counts once, however often it comes.
 * 3. Which attempt a member is at is known to the message that asks for it, not to the family: an
 *    attempt that failed and is followed by another changes nothing here.
 * 4. The child of a member has its id from the member's name: whoever begins it, there is one. To
 *    call again takes another family, or a ticket of the member's own.
 */
import { gapsIn, hasBit, withBit } from "./bits.ts";
import type { BatchTicket, CallBatch, ChildTicket, TaskTicket, Ticket } from "./instance.ts";

/** A member, as the ticket that it would have alone. */
export type BatchItem = (TaskTicket | ChildTicket) & Readonly<{ member: number }>;

/** What a member of a family is called. */
export const itemName = (family: string, member: number): string => `${family}#${member}`;

/** The family and the number in the name of a member; undefined for other names. */
export function parseItemName(name: string): { family: string; member: number } | undefined {
  const [, family, digits] = /^(f\d+\.\d+)#(\d{1,9})$/.exec(name) ?? [];
  return family === undefined ? undefined : { family, member: Number(digits) };
}

/** The open ticket of this name: one that is stored, or a member of a family as one of its own. */
export function findTicket(tickets: readonly Ticket[], name: string): Ticket | undefined {
  const named = parseItemName(name);
  if (named === undefined) return tickets.find(({ id }) => id === name);
  const family = batchNamed(tickets, named.family);
  const isOpen = family && named.member < family.size && !hasBit(family.taken, named.member);
  return isOpen ? memberOf(family, named.member) : undefined;
}

/** The open family of this name. */
export const batchNamed = (tickets: readonly Ticket[], id: string): BatchTicket | undefined =>
  tickets.filter(isBatch).find((family) => family.id === id);

/** The open family whose member has this name, and its number; undefined for other names. */
export function batchOf(
  tickets: readonly Ticket[],
  name: string,
): Readonly<{ family: BatchTicket; member: number }> | undefined {
  const named = parseItemName(name);
  if (named === undefined) return undefined;
  const family = batchNamed(tickets, named.family);
  return family && { family, member: named.member };
}

/** The open members of a family, in order; or only those between two numbers, the second excluded. */
export const itemsOf = (
  family: BatchTicket,
  { from = 0, to = family.size }: Readonly<{ from?: number; to?: number }> = {},
): readonly BatchItem[] =>
  gapsIn(family.taken, Math.min(to, family.size))
    .filter((member) => member >= from)
    .map((member) => memberOf(family, member));

/** The members that were open in a family and are not any more; `left` is what there is of it now. */
export const itemsClosed = (
  family: BatchTicket,
  left: BatchTicket | undefined,
): readonly BatchItem[] =>
  gapsIn(family.taken, family.size)
    .filter((member) => left === undefined || hasBit(left.taken, member))
    .map((member) => memberOf(family, member));

/** How many members are open. */
export const openIn = ({ taken, size }: Pick<BatchTicket, "taken" | "size">): number =>
  gapsIn(taken, size).length;

/** The family without this member: its outcome was taken, or somebody else stands for it. */
export const withoutItem = (family: BatchTicket, member: number): BatchTicket => ({
  ...family,
  taken: withBit(family.taken, member),
});

export const isBatch = (ticket: Ticket): ticket is BatchTicket => ticket.on === "family";

/** Says whether its members are calls. */
export const isOfCalls = (family: BatchTicket): family is CallBatch => "call" in family;

/** Says whether this is a member of a family, made up as a ticket. */
export const isBatchItem = (ticket: Ticket): ticket is BatchItem =>
  (ticket.on === "task" || ticket.on === "child") && ticket.member !== undefined;

function memberOf(family: BatchTicket, member: number): BatchItem {
  const { id, ref, element, since, stamp } = family;
  const common = { id: itemName(id, member), ref, element, since, ...(stamp && { stamp }) };
  if (isOfCalls(family)) return { ...common, on: "child", ...family.call, member };
  return {
    ...common,
    on: "task",
    type: family.type,
    attempt: 1,
    retries: family.retries,
    member,
  };
}
