/** The writes that belong to the instance's: rows, mailboxes, kept events. All are made, or none. */
import type { Instance, MessageTicket, Ticket } from "../../kernel/instance.ts";
import { withoutSubs, withSub } from "../../kernel/mailbox.ts";
import type { Write } from "../../ports/store.ts";
import { boxName, mailboxWrite } from "../rows/mailbox.ts";
import { topicName } from "../rows/topic-head.ts";
import { isTopicTicket, openedBy, rowItem, type TopicTicket, topicOf } from "../rows/wait-row.ts";
import { headKey, keptEventKey } from "../storage/keys.ts";
import type { World } from "../world.ts";
import { boxAt, headAt, isLoaded, isMessage, type StepContext } from "./step-context.ts";

/** Gives a wait that was opened its place: where it is found, and from which number on. */
export function placed(context: StepContext, ticket: Ticket, version: number): Ticket {
  if (!isTopicTicket(ticket) || ticket.row) return ticket;
  const { head } = headAt(context, topicOf(ticket));
  const row = { after: head.seq, epoch: head.epochs };
  // What an incident gives back has a new row: the old one may or may not be there.
  const again = openedBy(ticket.id) === version ? {} : { again: version };
  return { ...ticket, row: { ...row, ...again } };
}

export function companionsOf(
  world: World,
  context: StepContext,
  before: Instance,
  after: Instance,
): readonly Write[] {
  const topics = after.tickets.filter(isTopicTicket).filter((it) => isPlacedBy(after, it));
  return [
    ...topics.flatMap((ticket): Write[] =>
      ticket.row ? [{ put: rowItem(after, ticket, ticket.row), when: "absent" }] : [],
    ),
    ...(world.settings.host.queuesSurvive ? [] : expectedHeads(world, context, topics)),
    ...boxWrites(world, context, before, after),
    ...context.taken.map(
      ({ name, seq, version }): Write => ({
        remove: keptEventKey(world.settings.tenant, name, seq),
        when: { version },
      }),
    ),
  ];
}

const isPlacedBy = ({ version }: Instance, { id, row }: TopicTicket): boolean =>
  row !== undefined && (row.again ?? openedBy(id)) === version;

/** With queues in memory the commit holds only if nothing was broadcast since the head was read. */
function expectedHeads(
  world: World,
  { sources }: StepContext,
  tickets: readonly TopicTicket[],
): readonly Write[] {
  const topics = new Map(tickets.map((ticket) => [topicName(topicOf(ticket)), topicOf(ticket)]));
  return [...topics].flatMap(([name, topic]): Write[] => {
    const head = sources.heads.get(name);
    const key = headKey(world.settings.tenant, topic);
    return head ? [{ expect: key, when: { version: head.version } }] : [];
  });
}

function boxWrites(
  world: World,
  context: StepContext,
  before: Instance,
  after: Instance,
): readonly Write[] {
  const had = new Set(before.tickets.map(({ id }) => id));
  for (const ticket of after.tickets) {
    if (ticket.on !== "message" || had.has(ticket.id)) continue;
    const box = boxAt(context, ticket);
    if (box) context.boxes.set(boxName(ticket), withSub(box, subFor(after, ticket)));
  }
  const open = new Set(after.tickets.map(({ id }) => id));
  if (!world.settings.host.queuesSurvive) openLeftBoxes(context, before, after);
  return [...context.boxes].flatMap(([name, box]): Write[] => {
    const known = context.sources.boxes.get(name);
    if (known === undefined) return [];
    const left = withoutSubs(box, (sub) => sub.instanceId === after.id && !open.has(sub.ticket));
    if (left === known.stored) return [];
    return [mailboxWrite(world, left, known.version)];
  });
}

/**
 * With queues in memory, nothing comes back after a crash to free the places of closed waits: the
 * commit that closes the waits frees as many as fit.
 */
function openLeftBoxes(context: StepContext, before: Instance, after: Instance): void {
  for (const ticket of before.tickets.filter(isMessage)) {
    const isOpen = after.tickets.some(({ id }) => id === ticket.id);
    if (isOpen || isLoaded(context, before, after)) continue;
    const box = boxAt(context, ticket);
    if (box) context.boxes.set(boxName(ticket), box);
  }
}

const subFor = ({ id, definition, version }: Instance, ticket: MessageTicket) => ({
  processId: definition.id,
  instanceId: id,
  ticket: ticket.id,
  since: ticket.since,
  version,
});
