/**
 * Batches of parallel multi-instance activities: many tasks, or many calls, under one ticket.
 *
 * 1. Item n of the batch `f8.1` is named `f8.1#n`. An outcome uses that name and finds a task or a
 *    call like any other; only the batch is stored.
 * 2. An item is open while its bit is not set and the batch's ticket is open. Setting the bit
 *    consumes the item, so an outcome counts once, however often it is delivered.
 * 3. The attempt number of an item is in the message that requests it, not in the batch: a failed
 *    attempt that is followed by another changes nothing here.
 * 4. The called process of an item gets its id from the item's name, so there is only one however
 *    often it is started. To call again takes another batch, or a ticket of the item's own.
 */
import { gapsIn, hasBit, withBit } from "./bits.ts";
import type { BatchTicket, CallBatch, ChildTicket, TaskTicket, Ticket } from "./instance.ts";

/** An item, in the form of the ticket that it would have outside a batch. */
export type BatchItem = (TaskTicket | ChildTicket) & Readonly<{ member: number }>;

/** The name of an item of a batch. */
export const itemName = (batch: string, member: number): string => `${batch}#${member}`;

/** The batch and the number in the name of an item; undefined for other names. */
export function parseItemName(name: string): { batch: string; member: number } | undefined {
  const [, batch, digits] = /^(f\d+\.\d+)#(\d{1,9})$/.exec(name) ?? [];
  return batch === undefined ? undefined : { batch, member: Number(digits) };
}

/** The open ticket of this name: a stored one, or an item of a batch. */
export function findTicket(tickets: readonly Ticket[], name: string): Ticket | undefined {
  const named = parseItemName(name);
  if (named === undefined) return tickets.find(({ id }) => id === name);
  const batch = batchNamed(tickets, named.batch);
  const isOpen = batch && named.member < batch.size && !hasBit(batch.taken, named.member);
  return isOpen ? itemOf(batch, named.member) : undefined;
}

/** The open batch of this name. */
export const batchNamed = (tickets: readonly Ticket[], id: string): BatchTicket | undefined =>
  tickets.filter(isBatch).find((batch) => batch.id === id);

/** The open batch whose item has this name, and the item's number; undefined for other names. */
export function batchOf(
  tickets: readonly Ticket[],
  name: string,
): Readonly<{ batch: BatchTicket; member: number }> | undefined {
  const named = parseItemName(name);
  if (named === undefined) return undefined;
  const batch = batchNamed(tickets, named.batch);
  return batch && { batch, member: named.member };
}

/** The open items of a batch, in order; or only those between two numbers, the second excluded. */
export const itemsOf = (
  batch: BatchTicket,
  { from = 0, to = batch.size }: Readonly<{ from?: number; to?: number }> = {},
): readonly BatchItem[] =>
  gapsIn(batch.taken, Math.min(to, batch.size))
    .filter((member) => member >= from)
    .map((member) => itemOf(batch, member));

/** The items that were open in a batch and no longer are; `left` is what remains of it now. */
export const itemsClosed = (
  batch: BatchTicket,
  left: BatchTicket | undefined,
): readonly BatchItem[] =>
  gapsIn(batch.taken, batch.size)
    .filter((member) => left === undefined || hasBit(left.taken, member))
    .map((member) => itemOf(batch, member));

/** How many items are open. */
export const openIn = ({ taken, size }: Pick<BatchTicket, "taken" | "size">): number =>
  gapsIn(taken, size).length;

/** The batch without this item: its outcome was taken, or another ticket stands for it. */
export const withoutItem = (batch: BatchTicket, member: number): BatchTicket => ({
  ...batch,
  taken: withBit(batch.taken, member),
});

export const isBatch = (ticket: Ticket): ticket is BatchTicket => ticket.on === "family";

/** Whether its items are calls. */
export const isOfCalls = (batch: BatchTicket): batch is CallBatch => "call" in batch;

/** Whether this is an item of a batch in the form of a ticket. */
export const isBatchItem = (ticket: Ticket): ticket is BatchItem =>
  (ticket.on === "task" || ticket.on === "child") && ticket.member !== undefined;

function itemOf(batch: BatchTicket, member: number): BatchItem {
  const { id, ref, element, since, lease } = batch;
  const common = { id: itemName(id, member), ref, element, since, ...(lease && { lease }) };
  if (isOfCalls(batch)) return { ...common, on: "child", ...batch.call, member };
  return {
    ...common,
    on: "task",
    type: batch.type,
    attempt: 1,
    retries: batch.retries,
    member,
  };
}
