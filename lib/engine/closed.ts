/** What a commit has closed: handlers are told, and the rows and places of dead waits go. */
import { MAX_FAN_OUT_MS } from "../definition/limits.ts";
import { isFamily, membersClosed } from "../kernel/family.ts";
import type { Instance, MessageTicket, TaskTicket, Ticket } from "../kernel/instance.ts";
import { isForPeople } from "../kernel/person.ts";
import type { Key } from "../ports/store.ts";
import { keyOf as keyOfWrite, storeLimits } from "../ports/store-rules.ts";
import { mailboxKey } from "./keys.ts";
import { mailboxItem, readMailbox, withoutSubs } from "./messages/mailbox.ts";
import { isTask, openTask, runsHere } from "./owed.ts";
import { tidyPeople } from "./people/rows.ts";
import type { Plan } from "./plan.ts";
import { isTopicTicket, rowKey, type TopicTicket } from "./topics/row.ts";
import { isQueued } from "./workers/queue-task.ts";
import { hasRow, openKey } from "./workers/rows.ts";
import { lookedForType } from "./workers/task-type.ts";
import type { World } from "./world.ts";

/** Tickets that were open before the commit and are not any more, members of families included. */
export function closedBy({ before, image }: Pick<Plan, "before" | "image">): readonly Ticket[] {
  const { tickets } = image.instance;
  const open = new Set(tickets.map(({ id }) => id));
  const members = before.tickets.filter(isFamily).flatMap((family) => {
    const left = tickets.filter(isFamily).find(({ id }) => id === family.id);
    return left === family ? [] : membersClosed(family, left);
  });
  return [...before.tickets.filter(({ id }) => !open.has(id)), ...members];
}

/** Tells the handlers of what was closed to stop. */
export function stopClosed(world: World, plan: Plan): void {
  for (const ticket of closedBy(plan)) {
    if (runsHere(world, ticket)) world.tasks.stop(plan.before.id, ticket.id);
  }
}

/** A task that its worker brought back, and the row under which he had it: no other leads to it. */
export type Held = Readonly<{ ticket: string; key: Key }>;

/** Takes away what led to the closed: last of all, since nobody is owed that. */
export async function tidyClosed(
  world: World,
  plan: Plan,
  {
    justSent = new Set(),
    mayGo = () => true,
    held,
  }: Readonly<{
    /** Names whose debts have been sent by now. */
    justSent?: ReadonlySet<string>;
    mayGo?: (ticket: TopicTicket) => boolean;
    held?: Held | undefined;
  }> = {},
): Promise<void> {
  const closed = closedBy(plan).filter((ticket) => !isTopicTicket(ticket) || mayGo(ticket));
  const rows = closed.flatMap((ticket) => deadKeys(world, plan, ticket, justSent));
  const keys = [...rows, ...(await offerKeys(world, plan, held))];
  for (let from = 0; from < keys.length; from += storeLimits.keysPerCall) {
    await world.store.tidy(keys.slice(from, from + storeLimits.keysPerCall));
  }
  await tidyPeople(world, plan);
  for (const ticket of closed) if (ticket.on === "message") await leaveBox(world, plan, ticket);
}

/**
 * A row stays while a delivery along it has left debts: a call sends nothing, and whoever died
 * before it had sent comes back along the row. `justSent` names debts that have been sent by now;
 * old ones were, since by then every part of their fan-out has come and gone.
 */
export function mayTidyRow(
  world: World,
  { tickets, outbox }: Instance,
  ticket: string,
  justSent: ReadonlySet<string> = new Set(),
): boolean {
  // Where one process owns everything, an owner sends what it owes, or dies with all the others.
  const isAlive = (own: string | null) => world.settings.volatileQueues && own !== null;
  const since = world.clock.now() - MAX_FAN_OUT_MS;
  return ![...tickets, ...outbox].some(
    ({ stamp }) =>
      stamp?.by.startsWith(`${ticket}@`) &&
      !justSent.has(stamp.by) &&
      !isAlive(stamp.own) &&
      stamp.until > since,
  );
}

function deadKeys(
  world: World,
  { before, image }: Plan,
  ticket: Ticket,
  justSent: ReadonlySet<string>,
): readonly Key[] {
  if (!isTopicTicket(ticket) || !mayTidyRow(world, image.instance, ticket.id, justSent)) return [];
  const key = rowKey(before, ticket);
  return key ? [key] : [];
}

/** Rows of attempts that are over. Locks that nobody named here are over in time. */
async function offerKeys(world: World, plan: Plan, held: Held | undefined): Promise<Key[]> {
  const keys: Key[] = [];
  for (const task of [
    ...closedBy(plan),
    ...plan.before.tickets.filter((it) => isLater(plan, it)),
  ]) {
    if (!isTask(task) || runsHere(world, task) || isForPeople(task)) continue;
    const { id, type } = task;
    const known = await lookedForType(world, type);
    const open = openKey(plan.before, task, known.shards);
    if (held?.ticket === id) {
      keys.push(held.key);
      if (mayHaveTwoRows(task) && (await hasRow(world, open))) keys.push(open);
    } else if (!isQueued(world, known)) keys.push(open);
    // Those in queues have rows only where they were refused: whoever tries again finds them dead.
  }
  return keys;
}

/**
 * What a door has opened and a worker has taken at once, its parked copy offers again: that row goes
 * for a read and a write here, and for three writes where a worker takes it only to find it dead.
 */
const mayHaveTwoRows = ({ stamp }: TaskTicket): boolean => stamp?.own === null;

/** Whether a task is open as it was, but for a later attempt. */
function isLater({ image }: Plan, ticket: Ticket): boolean {
  const open = openTask(image.instance, ticket.id);
  return isTask(ticket) && open !== undefined && open.attempt !== ticket.attempt;
}

/** Frees the wait's place in its mailbox, unless the commit did so itself; best effort. */
async function leaveBox(world: World, plan: Plan, ticket: MessageTicket): Promise<void> {
  const { pk } = mailboxKey(plan.before.tenant, ticket.name, ticket.key);
  if (plan.companions.some((write) => keyOfWrite(write).pk === pk)) return;
  const { version, mailbox } = await readMailbox(world, ticket);
  const isThis = (sub: { instanceId: string; ticket: string }) =>
    sub.instanceId === plan.before.id && sub.ticket === ticket.id;
  const left = withoutSubs(mailbox, isThis);
  if (left === mailbox) return;
  await world.store.commit([{ put: mailboxItem(world, left, version + 1), when: { version } }]);
}
