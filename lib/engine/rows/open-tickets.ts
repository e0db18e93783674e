/** What an instance has open: questions about its tickets, and about who does the work behind them. */
import { findTicket, isBatch, isOfCalls, itemsOf, openIn } from "../../kernel/batch.ts";
import type {
  CallBatch,
  Instance,
  OutboxRecord,
  TaskBatch,
  TaskTicket,
  Ticket,
  TimerTicket,
} from "../../kernel/instance.ts";
import { isUserTask } from "../../kernel/user-task.ts";
import type { Write } from "../../ports/store.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";

export const isTask = (ticket: Ticket): ticket is TaskTicket => ticket.on === "task";
export const isTimer = (ticket: Ticket): ticket is TimerTicket => ticket.on === "timer";

/** Whether this installation runs the task itself; what is for people alone it never does. */
export const runsHere = (world: World, ticket: Ticket): ticket is TaskTicket =>
  isTask(ticket) && !isUserTask(ticket) && world.tasks.handlerOf(ticket.type) !== undefined;

/** The same for a batch with open items. */
export const batchRunsHere = (world: World, ticket: Ticket): ticket is TaskBatch =>
  isBatch(ticket) &&
  !isOfCalls(ticket) &&
  world.tasks.handlerOf(ticket.type) !== undefined &&
  openIn(ticket) > 0;

/** A batch of calls with open items. */
export const isCalling = (ticket: Ticket): ticket is CallBatch =>
  isBatch(ticket) && isOfCalls(ticket) && openIn(ticket) > 0;

/** How many outcomes may come at any moment: of tasks that the engine runs, and of children. */
export const openWork = (world: World, { tickets }: Instance): number =>
  tickets.reduce((sum, ticket) => {
    if (batchRunsHere(world, ticket) || isCalling(ticket)) return sum + openIn(ticket);
    return ticket.on === "child" || runsHere(world, ticket) ? sum + 1 : sum;
  }, 0);

/** The open task of this id, a ticket or an item of a batch. */
export function openTask({ tickets }: Instance, id: string): TaskTicket | undefined {
  const found = findTicket(tickets, id);
  return found && isTask(found) ? found : undefined;
}

/** Every open task, items of batches included. */
export const openTasks = (tickets: readonly Ticket[]): readonly TaskTicket[] =>
  tickets
    .flatMap((ticket): readonly Ticket[] => (isBatch(ticket) ? itemsOf(ticket) : [ticket]))
    .filter(isTask);

export const earliestTimer = ({ tickets }: Pick<Instance, "tickets">): TimerTicket | undefined =>
  tickets.filter(isTimer).sort((a, b) => a.dueAt - b.dueAt)[0];

/** Tickets and outbox records: what has to be sent after a commit. */
export type Entries = Readonly<{
  tickets: readonly Ticket[];
  outbox: readonly OutboxRecord[];
}>;

/** What a step makes of an instance: rows are put and removed by what it opens and closes. */
export type Change = Readonly<{
  before: Instance;
  /** As it will be once committed. */
  image: Image;
  /** What the step's waits stand on: written together with the instance, or not at all. */
  companions: readonly Write[];
  /** What this step newly owes. */
  fresh: Entries;
}>;
