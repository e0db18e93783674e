/** What a commit has closed: its handlers stop, and the rows and places of dead waits go. */
import { MAX_FAN_OUT_MS } from "../../definition/limits.ts";
import { isBatch, itemsClosed } from "../../kernel/batch.ts";
import type { Instance, MessageTicket, TaskTicket, Ticket } from "../../kernel/instance.ts";
import { isSameTarget, withoutSubs } from "../../kernel/mailbox.ts";
import { isUserTask } from "../../kernel/user-task.ts";
import type { Key } from "../../ports/store.ts";
import { keyOf as keyOfWrite, storeLimits } from "../../ports/store-rules.ts";
import { mailboxKey } from "../storage/keys.ts";
import type { World } from "../world.ts";
import { mailboxWrite, readMailbox } from "./mailbox.ts";
import { type Change, isTask, openTask, runsHere } from "./open-tickets.ts";
import { isQueued } from "./queue-task.ts";
import { openKey } from "./task-row.ts";
import { lookedForType } from "./task-type.ts";
import { tidyUserTaskRows } from "./user-task-row.ts";
import { isTopicTicket, rowKey, type TopicTicket } from "./wait-row.ts";

/** Tickets that were open before the commit and are not any more, items of batches included. */
export function closedBy({ before, image }: Pick<Change, "before" | "image">): readonly Ticket[] {
  const { tickets } = image.instance;
  const open = new Set(tickets.map(({ id }) => id));
  const items = before.tickets.filter(isBatch).flatMap((batch) => {
    const left = tickets.filter(isBatch).find(({ id }) => id === batch.id);
    return left === batch ? [] : itemsClosed(batch, left);
  });
  return [...before.tickets.filter(({ id }) => !open.has(id)), ...items];
}

/** Tells the handlers of what was closed to stop. */
export function stopClosed(world: World, change: Change): void {
  for (const ticket of closedBy(change)) {
    if (runsHere(world, ticket)) world.tasks.stop(change.before.id, ticket.id);
  }
}

/** A task that its worker reports, and the locked row by which the worker had it. */
export type LockedRow = Readonly<{ ticket: string; key: Key }>;

/** Removes what named the closed tickets: last of all, since nothing depends on it. */
export async function tidyClosed(
  world: World,
  change: Change,
  {
    justSent = new Set(),
    mayGo = () => true,
    held,
  }: Readonly<{
    /** Names whose debts have been sent by now. */
    justSent?: ReadonlySet<string>;
    mayGo?: (ticket: TopicTicket) => boolean;
    held?: LockedRow | undefined;
  }> = {},
): Promise<void> {
  const { before, image } = change;
  const closed = closedBy(change);
  const rows = closed
    .filter(isTopicTicket)
    .filter((it) => mayGo(it) && mayTidyRow(world, image.instance, it.id, justSent))
    .flatMap((ticket) => rowKey(before, ticket) ?? []);
  const keys = [...rows, ...(await offerKeys(world, change, held))];
  for (let from = 0; from < keys.length; from += storeLimits.keysPerCall) {
    await world.store.tidy(keys.slice(from, from + storeLimits.keysPerCall));
  }
  await tidyUserTaskRows(world, change);
  for (const ticket of closed) if (ticket.on === "message") await leaveBox(world, change, ticket);
}

/**
 * A row stays while a delivery along it has left debts: a call sends nothing, and the delivery of a
 * process that died before it had sent comes back along the row. `justSent` names debts that have
 * been sent by now; old ones were, since by then every part of their fan-out has come and gone.
 */
export function mayTidyRow(
  world: World,
  { tickets, outbox }: Instance,
  ticket: string,
  justSent: ReadonlySet<string> = new Set(),
): boolean {
  // Where one process owns everything, an owner sends what it owes, or dies with all the others.
  const isAlive = (own: string | null) => world.settings.host.ownsStore && own !== null;
  const since = world.clock.now() - MAX_FAN_OUT_MS;
  return ![...tickets, ...outbox].some(
    ({ lease }) =>
      lease?.trigger.startsWith(`${ticket}@`) &&
      !justSent.has(lease.trigger) &&
      !isAlive(lease.owner) &&
      lease.expiresAt > since,
  );
}

/** Rows of attempts that are over. A lock that is not named here is over in time. */
async function offerKeys(world: World, change: Change, held?: LockedRow): Promise<Key[]> {
  const keys: Key[] = [];
  const { before, image } = change;
  const retried = before.tickets.filter(isTask).filter(({ id, attempt }) => {
    const open = openTask(image.instance, id);
    return open !== undefined && open.attempt !== attempt;
  });
  const isOffered = (task: TaskTicket): boolean => !runsHere(world, task) && !isUserTask(task);
  for (const task of [...closedBy(change).filter(isTask), ...retried].filter(isOffered)) {
    const known = await lookedForType(world, task.type);
    const open = openKey(before, task, known.shards);
    if (held?.ticket === task.id) {
      keys.push(held.key);
      // What a request has opened and a worker has taken at once, its parked copy offers again. That
      // row goes for a read and a write here; a worker that takes it and finds it dead writes thrice.
      const [other] = task.lease?.owner === null ? await world.store.get([open]) : [];
      if (other) keys.push(open);
    } else if (!isQueued(world, known)) keys.push(open);
    // Those in queues have rows only where they were refused: the next poll finds these dead.
  }
  return keys;
}

/** Frees the wait's place in its mailbox, unless the commit did so itself; best effort. */
async function leaveBox(world: World, change: Change, ticket: MessageTicket): Promise<void> {
  const { pk } = mailboxKey(change.before.tenant, ticket.name, ticket.key);
  if (change.companions.some((write) => keyOfWrite(write).pk === pk)) return;
  const { version, mailbox } = await readMailbox(world, ticket);
  const wait = { instanceId: change.before.id, ticket: ticket.id };
  const left = withoutSubs(mailbox, (sub) => isSameTarget(sub, wait));
  if (left === mailbox) return;
  await world.store.commit([mailboxWrite(world, left, version)]);
}
