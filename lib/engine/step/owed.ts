/** What an instance owes, and to whom: every question about entries and their leases. */
import { MEMBERS_PER_PAGE } from "../../definition/limits.ts";
import type { Instant } from "../../definition/time/instant.ts";
import { isBatch, openIn } from "../../kernel/batch.ts";
import type { Instance, Lease, TaskTicket, Ticket } from "../../kernel/instance.ts";
import type { TaskMessage } from "../../ports/message.ts";
import {
  batchRunsHere,
  type Entries,
  earliestTimer,
  isCalling,
  openTasks,
  runsHere,
} from "../rows/open-tickets.ts";
import { defined } from "../storage/defined.ts";
import { AFTER_AT_ONCE, AT_ONCE } from "../storage/keys.ts";
import { HANDED_BACK } from "../storage/names.ts";
import type { World } from "../world.ts";

/** Tickets and outbox records that the trigger `name` answers for. */
export function owedBy(instance: Instance, name: string): Entries {
  return {
    tickets: instance.tickets.filter(({ lease }) => lease?.trigger === name),
    outbox: instance.outbox.filter(({ lease }) => lease?.trigger === name),
  };
}

/**
 * The same without tasks that a queue of this process holds: they have been sent, and another message
 * would run them beside their run. Durable queues cannot tell.
 */
export function unsentBy(world: Pick<World, "tasks">, instance: Instance, name: string): Entries {
  const { tickets, outbox } = owedBy(instance, name);
  return { tickets: tickets.filter((ticket) => !isHeld(world, instance, ticket)), outbox };
}

/**
 * Whether a queue of this process holds the task; of a batch, any of its items. The message of an
 * earlier attempt may be the very trigger that has come again: it says nothing of the next attempt.
 * Attempts of an item are counted in its messages.
 */
const isHeld = ({ tasks }: Pick<World, "tasks">, { id }: Instance, ticket: Ticket): boolean =>
  openTasks([ticket]).some((task) =>
    tasks.holds(id, task.id, task.member === undefined ? task.attempt : undefined),
  );

export const isNothing = ({ tickets, outbox }: Entries): boolean =>
  tickets.length === 0 && outbox.length === 0;

/** The leases of those entries that have an owner. */
export function ownersOf({ tickets, outbox }: Entries): readonly (Lease & { owner: string })[] {
  return [...tickets, ...outbox].flatMap(({ lease }) =>
    lease && lease.owner !== null ? [{ ...lease, owner: lease.owner }] : [],
  );
}

/**
 * How long the owner of an entry should still be left alone; 0 when it has none. Where the process
 * knows its owners, a lease says little: a living owner is at work right here and soon done.
 */
export function leaseLeftMs(
  { settings, clock }: Pick<World, "settings" | "clock">,
  { owner, expiresAt }: Lease,
): number {
  if (owner === null || settings.isDeadOwner?.(owner)) return 0;
  const leftMs = Math.max(0, expiresAt - clock.now());
  return settings.isDeadOwner ? Math.min(leftMs, OWNER_HERE_MS) : leftMs;
}

const OWNER_HERE_MS = 1_000;

/** The invocation that handed this task back last; undefined: none since it was opened. */
export const handBackOf = ({ lease }: TaskTicket): string | undefined =>
  lease?.trigger === HANDED_BACK ? (lease.owner ?? undefined) : undefined;

/**
 * Whether something must be sent for a ticket after its commit. A wait for a broadcast needs a second
 * read of its topic, unless its commit held only while nothing was broadcast.
 */
export function mustBeSent({ settings }: World, { on }: Ticket): boolean {
  if (on === "signal" || on === "event") return settings.host.queuesSurvive;
  return on === "task" || on === "family" || on === "continuation" || on === "child";
}

/** What a queue must hold: if the queue is lost, this instance must be recovered. */
export function owesAnything(world: World, { tickets, outbox }: Instance): boolean {
  return (
    outbox.length > 0 ||
    tickets.some(
      (ticket) =>
        ticket.on === "continuation" ||
        ticket.on === "child" ||
        isCalling(ticket) ||
        runsHere(world, ticket) ||
        batchRunsHere(world, ticket),
    )
  );
}

/**
 * When an instance must be checked because no queue brings it. With queues in memory, what is
 * owed masks the timers: the host then keeps the earliest one itself.
 */
export function lookAtOf(world: World, instance: Instance): Instant | undefined {
  if (isMasked(world, instance)) return AT_ONCE;
  const dueAt = earliestTimer(instance)?.dueAt;
  return dueAt === undefined || dueAt > AT_ONCE ? dueAt : AFTER_AT_ONCE;
}

export const isMasked = (world: World, instance: Instance): boolean =>
  !world.settings.host.queuesSurvive && owesAnything(world, instance);

/** Whether this is a batch with more open items than its trigger sends itself. */
export const isSentByPage = (world: World, ticket: Ticket): boolean =>
  isBatch(ticket) && openIn(ticket) > pageSizeIn(world);

/** How many items one message sends. */
export const pageSizeIn = ({ settings }: World): number =>
  settings.membersPerPage ?? MEMBERS_PER_PAGE;

/** The message that asks for an attempt of a task; that of a batch item says how many are left. */
export function taskMessage(instance: Instance, task: TaskTicket): TaskMessage {
  const { tenant, id: instanceId } = instance;
  const { id: ticket, attempt, type, notBefore, member } = task;
  const retries = member === undefined ? undefined : task.retries;
  const besides = defined({ notBefore, handedBackBy: handBackOf(task), retries });
  return { kind: "task", tenant, instanceId, ticket, attempt, type, ...besides };
}
