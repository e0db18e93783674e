/** The parts of a fan-out: each is a message, and a trigger of its own. */
import type { Instant } from "../definition/time/instant.ts";
import { ADDRESSED, type Addressed, kindOf, type MessageOfKind } from "./message-kind.ts";
import { anyOf, count, flag, instant, listOf, maybe, record, text } from "./shape.ts";

type OfBroadcast = Readonly<{ tenant: string; broadcastId: string }>;

const OF_BROADCAST = { tenant: text, broadcastId: text } as const;

/** A broadcast was accepted: everybody who waits gets it. */
export type BroadcastMessage = OfBroadcast & Readonly<{ kind: "broadcast" }>;

const BROADCAST = kindOf<BroadcastMessage>("broadcast", {
  shape: OF_BROADCAST,
  // Comes over the bus, where it also says what outsiders want to know: that is left behind.
  isOpen: true,
  logged: ["tenant", "broadcastId"],
  label: ({ broadcastId }) => `broadcast ${broadcastId}`,
});

/** Look whether a broadcast has reached everybody; only where queues are in memory. */
export type WatchMessage = OfBroadcast & Readonly<{ kind: "watch" }>;

const WATCH = kindOf<WatchMessage>("watch", {
  shape: OF_BROADCAST,
  logged: ["tenant", "broadcastId"],
  label: ({ broadcastId }) => `watch over broadcast ${broadcastId}`,
});

/** Send the pages of one shard from the row `from` on; `page` is the number of the next one. */
export type ShardMessage = OfBroadcast &
  Readonly<{
    kind: "shard";
    epoch: number;
    shard: number;
    page: number;
    from?: string;
    /** Counts the lives of queues in memory; absent in the first. */
    round?: number;
  }>;

const SHARD = kindOf<ShardMessage>("shard", {
  shape: {
    ...OF_BROADCAST,
    epoch: count,
    shard: count,
    page: count,
    from: maybe(text),
    round: maybe(count),
  },
  logged: ["tenant", "broadcastId"],
  label: ({ epoch, shard, broadcastId }) => `shard ${epoch}.${shard} of broadcast ${broadcastId}`,
});

/** Deliver to these rows; `page` names it in the receipt. */
export type PageMessage = OfBroadcast &
  Readonly<{
    kind: "page";
    page: string;
    /** The last one of its shard. */
    last: boolean;
    rows: readonly PagedRow[];
  }>;

/**
 * Whom a row stands for: a wait of an instance, which `version` committed together with the row, or
 * a start event of a definition.
 */
export type PagedRow = Readonly<
  { sk: string; pk: string; after: number; at: Instant } & (
    | { instanceId: string; ticket: string; version: number }
    | { definitionId: string; element: string }
  )
>;

const ROW = { sk: text, pk: text, after: count, at: instant } as const;
const WAIT = { instanceId: text, ticket: text, version: count } as const;

const PAGE = kindOf<PageMessage>("page", {
  shape: {
    ...OF_BROADCAST,
    page: text,
    last: flag,
    rows: listOf(
      anyOf(
        record<Extract<PagedRow, { ticket: string }>>({ ...ROW, ...WAIT }),
        record<Extract<PagedRow, { element: string }>>({
          ...ROW,
          definitionId: text,
          element: text,
        }),
      ),
    ),
  },
  logged: ["tenant", "broadcastId"],
  label: ({ page, broadcastId }) => `page ${page} of broadcast ${broadcastId}`,
});

/** Look whether what a wait had missed has reached it since, and see to it where it has not. */
export type MissedMessage = Addressed & Readonly<{ kind: "missed"; ticket: string }>;

const MISSED = kindOf<MissedMessage>("missed", {
  shape: { ...ADDRESSED, ticket: text },
  logged: ["tenant", "instanceId", "ticket"],
  label: ({ ticket, instanceId }) => `second look of ${ticket} of instance ${instanceId}`,
});

/** Send the open members of a family from one number up to, and without, another. */
export type MembersMessage = Addressed &
  Readonly<{ kind: "members"; ticket: string; from: number; to: number }>;

const MEMBERS = kindOf<MembersMessage>("members", {
  shape: { ...ADDRESSED, ticket: text, from: count, to: count },
  logged: ["tenant", "instanceId", "ticket"],
  label: ({ ticket, instanceId }) => `members of ${ticket} of instance ${instanceId}`,
});

/** Cancel what these members of a family have called, which is over. */
export type CancelMembersMessage = Addressed &
  Readonly<{ kind: "cancel-members"; ticket: string; numbers: readonly number[] }>;

const CANCEL_MEMBERS = kindOf<CancelMembersMessage>("cancel-members", {
  shape: { ...ADDRESSED, ticket: text, numbers: listOf(count) },
  logged: ["tenant", "instanceId", "ticket"],
  label: ({ ticket, instanceId }) => `children of ${ticket} of instance ${instanceId} to cancel`,
});

/** Offer a kept event that only one may have to those who wait, the longest first. */
export type OfferMessage = Readonly<{ kind: "offer"; tenant: string; name: string; seq: number }>;

const OFFER = kindOf<OfferMessage>("offer", {
  shape: { tenant: text, name: text, seq: count },
  logged: ["tenant", "name", "seq"],
  label: ({ name, seq }) => `offer of event ${name} number ${seq}`,
});

/** Bring those who wait at a mailbox, or begin by it, and what is kept there together. */
export type PokeMessage = Readonly<{ kind: "poke"; tenant: string; name: string; key: string }>;

const POKE = kindOf<PokeMessage>("poke", {
  shape: { tenant: text, name: text, key: text },
  logged: ["tenant", "name"],
  label: ({ name }) => `look at the mailbox of ${name}`,
});

/** The parts of a fan-out; each is a trigger of its own. */
export const FAN_OUT_KINDS = [
  BROADCAST,
  WATCH,
  SHARD,
  PAGE,
  MISSED,
  OFFER,
  POKE,
  MEMBERS,
  CANCEL_MEMBERS,
] as const;
export type FanOutMessage = MessageOfKind<(typeof FAN_OUT_KINDS)[number]>;
