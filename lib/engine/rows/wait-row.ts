/** Rows: how a broadcast finds those who wait, and the definitions that begin by it. */
import type { Instant } from "../../definition/time/instant.ts";
import type { EventTicket, Instance, Row, SignalTicket, Ticket } from "../../kernel/instance.ts";
import type { Topic } from "../../ports/bus.ts";
import type { PagedRow } from "../../ports/message.ts";
import type { Item, Key } from "../../ports/store.ts";
import { encodeBody, parseBody } from "../storage/formats.ts";
import { shardFor, shardPk, startSk, waitSk } from "../storage/keys.ts";
import { shardsOf } from "./topic-head.ts";

/** Waits that are found by rows. */
export type TopicTicket = SignalTicket | EventTicket;

/** A wait for what is sent to its instance alone has no row. */
export const isTopicTicket = (ticket: Ticket): ticket is TopicTicket =>
  ticket.on === "signal" || (ticket.on === "event" && !ticket.inbox);

export const topicOf = ({ on, name }: TopicTicket): Topic => ({ kind: on, name });

/** The key of a wait's row; undefined before the engine has given it a place. */
export function rowKey(instance: Instance, ticket: TopicTicket): Key | undefined {
  return ticket.row && keyOf(instance, ticket, ticket.row);
}

/** The row of a wait, which the engine has given a place. */
export function rowItem(instance: Instance, ticket: TopicTicket, row: Row): Item {
  return {
    key: keyOf(instance, ticket, row),
    version: 1,
    body: encode({
      i: instance.id,
      w: ticket.id,
      s: row.after,
      a: ticket.since,
      v: row.again ?? openedBy(ticket.id),
    }),
  };
}

/** The row of a start event; it stands in the one shard of the first epoch. */
export function startRow(
  tenant: string,
  topic: Topic,
  about: Readonly<{ definitionId: string; element: string; after: number; at: Instant }>,
): Item {
  const { definitionId, element, after, at } = about;
  return {
    key: startRowKey(tenant, topic, definitionId),
    version: 1,
    body: encode({ d: definitionId, e: element, s: after, a: at }),
  };
}

export const startRowKey = (tenant: string, topic: Topic, definitionId: string): Key => ({
  pk: shardPk(tenant, topic, 1, 0),
  sk: startSk(definitionId),
});

/** What a stored row says. */
export function parseRow({ key, body }: Pick<Item, "key" | "body">): PagedRow {
  const row = parseBody("row", body) as Packed;
  const common = { ...key, after: row.s, at: row.a };
  if ("d" in row) return { ...common, definitionId: row.d, element: row.e };
  return { ...common, instanceId: row.i, ticket: row.w, version: row.v };
}

/** The version that committed a ticket is in its id: a smaller one has not heard of it yet. */
export const openedBy = (ticket: string): number => Number(/^[a-z](\d+)\./.exec(ticket)?.[1] ?? 0);

type Packed = Readonly<
  { s: number; a: Instant } & ({ i: string; w: string; v: number } | { d: string; e: string })
>;

function keyOf({ tenant, id }: Instance, ticket: TopicTicket, row: Row): Key {
  return {
    pk: shardPk(tenant, topicOf(ticket), row.epoch, shardFor(id, shardsOf(row.epoch))),
    sk: waitSk(ticket.since, id, row.again === undefined ? ticket.id : `${ticket.id}~${row.again}`),
  };
}

const encode = (packed: Packed): Uint8Array => encodeBody("row", packed);
