/** What the work queue carries; each message is a trigger of its own. */
import * as z from "zod/mini";
import type { Instant } from "../definition/time/instant.ts";
import { ADDRESSED, type Addressed, kindOf, type MessageOfKind } from "./message-kind.ts";
import { count, instant, listOf, maybe, text } from "./schema.ts";

type OfBroadcast = Readonly<{ tenant: string; broadcastId: string }>;

const OF_BROADCAST = { tenant: text, broadcastId: text } as const;

/** A broadcast was accepted: deliver it to every wait. */
export type BroadcastMessage = OfBroadcast & Readonly<{ kind: "broadcast" }>;

const BROADCAST = kindOf<BroadcastMessage>()("broadcast", {
  shape: OF_BROADCAST,
  // Comes over the bus with further fields for subscribers, which are dropped.
  isOpen: true,
  logged: ["tenant", "broadcastId"],
  label: ({ broadcastId }) => `broadcast ${broadcastId}`,
});

/** Check whether a broadcast has reached every wait; only where queues are in memory. */
export type WatchMessage = OfBroadcast & Readonly<{ kind: "watch" }>;

const WATCH = kindOf<WatchMessage>()("watch", {
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
    /** Counts the restarts of queues in memory; absent in the first run. */
    round?: number;
  }>;

const SHARD = kindOf<ShardMessage>()("shard", {
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

/** Deliver to these rows; `page` identifies the page in the receipt. */
export type PageMessage = OfBroadcast &
  Readonly<{
    kind: "page";
    page: string;
    /** The last one of its shard. */
    last: boolean;
    rows: readonly PagedRow[];
  }>;

/**
 * What a row stands for: a wait of an instance, which `version` committed together with the row, or
 * a start event of a definition.
 */
export type PagedRow = Readonly<
  { sk: string; pk: string; after: number; at: Instant } & (
    | { instanceId: string; ticket: string; version: number }
    | { definitionId: string; element: string }
  )
>;

const ROW = { sk: text, pk: text, after: count, at: instant } as const;

const PAGE = kindOf<PageMessage>()("page", {
  shape: {
    ...OF_BROADCAST,
    page: text,
    last: z.boolean(),
    rows: listOf(
      z.union([
        z.strictObject({ ...ROW, instanceId: text, ticket: text, version: count }),
        z.strictObject({ ...ROW, definitionId: text, element: text }),
      ]),
    ),
  },
  logged: ["tenant", "broadcastId"],
  label: ({ page, broadcastId }) => `page ${page} of broadcast ${broadcastId}`,
});

/**
 * Check whether the broadcasts that a wait had missed have reached it, and deliver those that have
 * not.
 */
export type MissedMessage = Addressed & Readonly<{ kind: "missed"; ticket: string }>;

const MISSED = kindOf<MissedMessage>()("missed", {
  shape: { ...ADDRESSED, ticket: text },
  logged: ["tenant", "instanceId", "ticket"],
  label: ({ ticket, instanceId }) => `re-check of ${ticket} of instance ${instanceId}`,
});

/** Send the open items of a batch from number `from` up to, but excluding, `to`. */
export type MembersMessage = Addressed &
  Readonly<{ kind: "members"; ticket: string; from: number; to: number }>;

const MEMBERS = kindOf<MembersMessage>()("members", {
  shape: { ...ADDRESSED, ticket: text, from: count, to: count },
  logged: ["tenant", "instanceId", "ticket"],
  label: ({ ticket, instanceId }) => `batch items of ${ticket} of instance ${instanceId}`,
});

/** Cancel the called processes of these items of a batch that was interrupted. */
export type CancelMembersMessage = Addressed &
  Readonly<{ kind: "cancel-members"; ticket: string; numbers: readonly number[] }>;

const CANCEL_MEMBERS = kindOf<CancelMembersMessage>()("cancel-members", {
  shape: { ...ADDRESSED, ticket: text, numbers: listOf(count) },
  logged: ["tenant", "instanceId", "ticket"],
  label: ({ ticket, instanceId }) =>
    `called processes of ${ticket} of instance ${instanceId} to cancel`,
});

/** Offer a kept event that only one wait may take, to the longest wait first. */
export type OfferMessage = Readonly<{ kind: "offer"; tenant: string; name: string; seq: number }>;

const OFFER = kindOf<OfferMessage>()("offer", {
  shape: { tenant: text, name: text, seq: count },
  logged: ["tenant", "name", "seq"],
  label: ({ name, seq }) => `offer of event ${name} number ${seq}`,
});

/** Match the messages of a mailbox with its waits and message start events. */
export type PokeMessage = Readonly<{ kind: "poke"; tenant: string; name: string; key: string }>;

const POKE = kindOf<PokeMessage>()("poke", {
  shape: { tenant: text, name: text, key: text },
  logged: ["tenant", "name"],
  label: ({ name }) => `wake-up of the mailbox of ${name}`,
});

/** Every kind of message of the work queue. */
export const WORK_KINDS = [
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
export type WorkMessage = MessageOfKind<(typeof WORK_KINDS)[number]>;
