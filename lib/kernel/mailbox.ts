/**
 * A mailbox decides who takes which message. There is one per message name and correlation key; it
 * holds who waits there, and what came before them.
 *
 * 1. One waiter per process id. A waiter whose ticket is closed counts for nothing and may be replaced.
 * 2. Messages leave in the order in which they came, each once. Expired messages are skipped.
 * 3. A message with `for` is on its way to several targets: each of them takes it once, no other does.
 *    When all are gone and none has taken it, it is a message like any other.
 */
import type { Variables } from "../definition/json.ts";
import {
  MAX_BUFFERED_MESSAGES,
  MAX_MAILBOX_BYTES,
  MAX_REMEMBERED_MESSAGES,
  MAX_WAITERS_PER_MAILBOX,
} from "../definition/limits.ts";
import { type Instant, instantFrom } from "../definition/time/instant.ts";
import { jsonBytes } from "./json-bytes.ts";

export type Address = Readonly<{ name: string; key: string }>;

export type Mailbox = Readonly<{
  address: Address;
  /** Who waits, one per process id. */
  subs: readonly Sub[];
  bufs: readonly Buffered[];
  /** Messages that were accepted here lately, oldest first. */
  ids: readonly Remembered[];
}>;

/** How a mailbox remembers a message: until when, and a fingerprint of its content. */
export type Remembered = Readonly<{ mid: string; until: Instant; body: string }>;

export type Sub = Readonly<{
  processId: string;
  instanceId: string;
  ticket: string;
  since: Instant;
  /** Of the instance, in the commit that wrote this. */
  version: number;
}>;

export type Buffered = Readonly<{
  mid: string;
  payload: Variables;
  expiresAt: Instant;
  for?: readonly Target[];
  /** One of its targets has taken it. */
  taken?: true;
}>;

/** A wait of an instance. */
export type WaitTarget = Readonly<{ ticket: string; instanceId: string }>;

/** A wait, or a definition that the message starts. */
export type Target = WaitTarget | Readonly<{ definitionId: string }>;

export const emptyBox = (address: Address): Mailbox => ({ address, subs: [], bufs: [], ids: [] });

/** Without expired messages, and with the ids that are still remembered. */
export const pruned = (mailbox: Mailbox, now: Instant): Mailbox => ({
  ...mailbox,
  bufs: mailbox.bufs.filter(({ expiresAt }) => expiresAt > now),
  ids: mailbox.ids.filter(({ until }) => until > now).slice(-MAX_REMEMBERED_MESSAGES),
});

/** Whether a message is kept here that a wait or a target can take now. */
export const hasTaker = ({ subs, bufs }: Mailbox): boolean =>
  bufs.some(({ for: targets }) => targets !== undefined || subs.length > 0);

/** When everything in the mailbox has expired; undefined while an instance waits here. */
export function endOf({ subs, bufs, ids }: Mailbox, now: Instant): Instant | undefined {
  if (subs.length > 0) return undefined;
  const ends = [...bufs.map(({ expiresAt }) => expiresAt), ...ids.map(({ until }) => until)];
  return instantFrom(Math.max(now, ...ends));
}

export const rememberedAs = ({ ids }: Mailbox, mid: string): Remembered | undefined =>
  ids.find((known) => known.mid === mid);

/** With the message at the end of the queue, and its id remembered. */
export const withMessage = (mailbox: Mailbox, message: Buffered, id: Remembered): Mailbox => ({
  ...withId(mailbox, id),
  bufs: [...mailbox.bufs, message],
});

export function withId(mailbox: Mailbox, id: Remembered): Mailbox {
  return { ...mailbox, ids: [...mailbox.ids, id] };
}

/** Whether one more message may be kept here. */
export function hasRoom(mailbox: Mailbox, message: Buffered, now: Instant): boolean {
  const kept = pruned(mailbox, now);
  if (kept.bufs.length >= MAX_BUFFERED_MESSAGES) return false;
  return jsonBytes({ ...kept, bufs: [...kept.bufs, message] }) <= MAX_MAILBOX_BYTES;
}

/** The oldest message that this wait may take. */
export const messageFor = (
  { bufs }: Mailbox,
  wait: WaitTarget,
  now: Instant,
): Buffered | undefined =>
  bufs.find(
    ({ expiresAt, for: targets }) =>
      expiresAt > now && (targets === undefined || targets.some((it) => isSameTarget(it, wait))),
  );

/** After a target has taken the message, or can never take it any more. */
export const withoutTarget = (
  mailbox: Mailbox,
  mid: string,
  target: Target,
  wasTaken: boolean,
): Mailbox => ({
  ...mailbox,
  bufs: mailbox.bufs.flatMap((message) =>
    message.mid === mid ? passedOn(message, target, wasTaken) : [message],
  ),
});

function passedOn(message: Buffered, target: Target, wasTaken: boolean): readonly Buffered[] {
  const { for: targets, taken: takenBefore, ...plain } = message;
  if (targets === undefined) return wasTaken ? [] : [message];
  const left = targets.filter((it) => !isSameTarget(it, target));
  const isTaken = takenBefore === true || wasTaken;
  if (left.length > 0) return [{ ...plain, for: left, ...(isTaken && { taken: true }) }];
  return isTaken ? [] : [plain];
}

/** After a definition has taken the message; undefined where it is not kept for that one. */
export function takenFrom(
  mailbox: Mailbox,
  mid: string,
  definitionId: string,
): Mailbox | undefined {
  const target = { definitionId };
  const isKept = mailbox.bufs.some(
    (message) => message.mid === mid && message.for?.some((it) => isSameTarget(it, target)),
  );
  return isKept ? withoutTarget(mailbox, mid, target, true) : undefined;
}

export const subOf = ({ subs }: Mailbox, processId: string): Sub | undefined =>
  subs.find((sub) => sub.processId === processId);

/** With this wait in the place of its process id. */
export function withSub(mailbox: Mailbox, sub: Sub): Mailbox {
  const others = mailbox.subs.filter(({ processId }) => processId !== sub.processId);
  return { ...mailbox, subs: [...others, sub] };
}

/** Without a wait that is closed: no message is kept for it any more, and its place is free. */
export function withoutDead(mailbox: Mailbox, { instanceId, ticket }: Sub): Mailbox {
  const wait = { instanceId, ticket };
  const kept = mailbox.bufs.filter(({ for: targets }) => targets !== undefined);
  return kept.reduce(
    (box, { mid }) => withoutTarget(box, mid, wait, false),
    withoutSubs(mailbox, (sub) => isSameTarget(sub, wait)),
  );
}

/** Without the waits that `which` names; the same mailbox where it names none. */
export function withoutSubs(mailbox: Mailbox, which: (sub: Sub) => boolean): Mailbox {
  const subs = mailbox.subs.filter((sub) => !which(sub));
  return subs.length === mailbox.subs.length ? mailbox : { ...mailbox, subs };
}

/** Whether no other process id may wait here. */
export const isCrowded = ({ subs }: Mailbox): boolean => subs.length >= MAX_WAITERS_PER_MAILBOX;

/** Whether two targets are the same wait, or the same definition. */
export function isSameTarget(a: Target, b: Target): boolean {
  if ("definitionId" in a) return "definitionId" in b && a.definitionId === b.definitionId;
  return "ticket" in b && a.ticket === b.ticket && a.instanceId === b.instanceId;
}
