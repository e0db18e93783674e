/** What an instance owes, and to whom: every question about entries and their stamps. */
import { type Instant, instantFrom } from "../definition/time/instant.ts";
import { findTicket, isFamily, isOfCalls, membersOf, openIn } from "../kernel/family.ts";
import type {
  CallFamily,
  Instance,
  OutboxRecord,
  Stamp,
  TaskFamily,
  TaskTicket,
  Ticket,
  TimerTicket,
} from "../kernel/instance.ts";
import { isForPeople } from "../kernel/person.ts";
import { HANDED_BACK } from "./names.ts";
import type { World } from "./world.ts";

/** Tickets and outbox records that the trigger `name` answers for. */
export type Entries = Readonly<{
  tickets: readonly Ticket[];
  outbox: readonly OutboxRecord[];
}>;

export function owedBy(instance: Instance, name: string): Entries {
  return {
    tickets: instance.tickets.filter(({ stamp }) => stamp?.by === name),
    outbox: instance.outbox.filter(({ stamp }) => stamp?.by === name),
  };
}

export const isNothing = ({ tickets, outbox }: Entries): boolean =>
  tickets.length === 0 && outbox.length === 0;

/** Who works on these entries, without those that nobody owns. */
export function ownersOf({ tickets, outbox }: Entries): readonly (Stamp & { own: string })[] {
  return [...tickets, ...outbox].flatMap(({ stamp }) =>
    stamp && stamp.own !== null ? [{ ...stamp, own: stamp.own }] : [],
  );
}

/**
 * How long the owner of an entry should still be left alone; 0 when nobody works on it. Where it is
 * known exactly who does, a lease says nothing: its owner is at work right here and soon done.
 */
export function leaseLeftMs(
  { settings, clock }: Pick<World, "settings" | "clock">,
  { own, until }: Stamp,
): number {
  if (own === null || settings.isDeadOwner?.(own)) return 0;
  const leftMs = Math.max(0, until - clock.now());
  return settings.isDeadOwner ? Math.min(leftMs, OWNER_HERE_MS) : leftMs;
}

const OWNER_HERE_MS = 1_000;

export const isTask = (ticket: Ticket): ticket is TaskTicket => ticket.on === "task";
export const isTimer = (ticket: Ticket): ticket is TimerTicket => ticket.on === "timer";

/** Whether this installation runs the task itself; what is for people alone it never does. */
export const runsHere = (world: World, ticket: Ticket): ticket is TaskTicket =>
  isTask(ticket) && !isForPeople(ticket) && world.tasks.handlerOf(ticket.type) !== undefined;

/** The same for a family of which members are open. */
export const familyRunsHere = (world: World, ticket: Ticket): ticket is TaskFamily =>
  isFamily(ticket) &&
  !isOfCalls(ticket) &&
  world.tasks.handlerOf(ticket.type) !== undefined &&
  openIn(ticket) > 0;

/** A family of calls of which members are open. */
export const isCalling = (ticket: Ticket): ticket is CallFamily =>
  isFamily(ticket) && isOfCalls(ticket) && openIn(ticket) > 0;

/** How many outcomes may come at any moment: of tasks that the engine runs, and of children. */
export const openWork = (world: World, { tickets }: Instance): number =>
  tickets.reduce((sum, ticket) => {
    if (familyRunsHere(world, ticket) || isCalling(ticket)) return sum + openIn(ticket);
    return ticket.on === "child" || runsHere(world, ticket) ? sum + 1 : sum;
  }, 0);

/** A task of this name, be it a ticket or a member of a family. */
export function openTask({ tickets }: Instance, id: string): TaskTicket | undefined {
  const found = findTicket(tickets, id);
  return found && isTask(found) ? found : undefined;
}

/** Every open task, the members of families among them. */
export const openTasks = (tickets: readonly Ticket[]): readonly TaskTicket[] =>
  tickets
    .flatMap((ticket): readonly Ticket[] => (isFamily(ticket) ? membersOf(ticket) : [ticket]))
    .filter(isTask);

/** Who handed this task back last; undefined where nobody did since it was opened. */
export const handBackOf = ({ stamp }: TaskTicket): string | undefined =>
  stamp?.by === HANDED_BACK ? (stamp.own ?? undefined) : undefined;

export function earliestTimer({ tickets }: Pick<Instance, "tickets">): TimerTicket | undefined {
  return tickets
    .filter(isTimer)
    .reduce<TimerTicket | undefined>(
      (first, timer) => (first === undefined || timer.dueAt < first.dueAt ? timer : first),
      undefined,
    );
}

/**
 * Whether somebody has to do something for a ticket after its commit. A wait for a broadcast needs
 * a second look at its topic, unless its commit held only while nothing was broadcast.
 */
export function mustBeSent({ settings }: World, { on }: Ticket): boolean {
  if (on === "signal" || on === "event") return !settings.volatileQueues;
  return on === "task" || on === "family" || on === "continuation" || on === "child";
}

/** What a queue must hold: if the queue is lost, somebody has to look here. */
export function owesAnything(world: World, { tickets, outbox }: Instance): boolean {
  return (
    outbox.length > 0 ||
    tickets.some(
      (ticket) =>
        ticket.on === "continuation" ||
        ticket.on === "child" ||
        isCalling(ticket) ||
        runsHere(world, ticket) ||
        familyRunsHere(world, ticket),
    )
  );
}

/**
 * When somebody must look at an instance because no queue will. With queues in memory, what is
 * owed masks the timers: the host then keeps the earliest one itself.
 */
export function lookAtOf(world: World, instance: Instance): Instant | undefined {
  if (isMasked(world, instance)) return AT_ONCE;
  const dueAt = earliestTimer(instance)?.dueAt;
  return dueAt === undefined || dueAt > AT_ONCE ? dueAt : AFTER_AT_ONCE;
}

export const isMasked = (world: World, instance: Instance): boolean =>
  world.settings.volatileQueues && owesAnything(world, instance);

/** Where owing instances stand in the due index; timers stand behind it, whatever their date. */
export const AT_ONCE = instantFrom(0);
const AFTER_AT_ONCE = instantFrom(1);
