/**
 * A mailbox: one per message name and correlation key. It holds who waits there and what came
 * before that; both sides change it under its version, so they meet in one order.
 *
 * 1. One waiter per process id. A waiter whose ticket is gone counts for nothing and may be replaced.
 * 2. Messages leave in the order in which they came, each once. What has expired is passed over.
 * 3. A message with `for` is on its way to several: each of those takes it once, no other does.
 *    Once all are gone without one of them having taken it, it is a message like any other.
 */
import type { Variables } from "../../definition/json.ts";
import {
  MAX_BUFFERED_MESSAGES,
  MAX_MAILBOX_BYTES,
  MAX_REMEMBERED_MESSAGES,
  MAX_WAITERS_PER_MAILBOX,
} from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { CarriedStart, Post } from "../../ports/message.ts";
import type { Item } from "../../ports/store.ts";
import { encodeBody, parserOf } from "../storage/formats.ts";
import { AT_ONCE, mailboxKey } from "../storage/keys.ts";
import type { World } from "../world.ts";

export type Address = Readonly<{ name: string; key: string }>;

export type Mailbox = Readonly<{
  address: Address;
  /** Who waits, one per process id. */
  subs: readonly Sub[];
  bufs: readonly Buffered[];
  /** Messages that were taken in here lately, oldest first. */
  ids: readonly Remembered[];
}>;

/** `body` is a fingerprint: the same id must carry the same. */
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

/** A wait, or a definition that begins by the message. */
export type Target = Readonly<{ ticket: string; instanceId: string } | { definitionId: string }>;

export type ReadMailbox = Readonly<{ version: number; mailbox: Mailbox }>;

export async function readMailbox(world: World, address: Address): Promise<ReadMailbox> {
  const [item] = await world.store.get([keyOf(world, address)]);
  if (item === undefined) return { version: 0, mailbox: emptyBox(address) };
  // An expired box says nothing any more, but its version still counts.
  const isOver = item.expiresAt !== undefined && item.expiresAt <= world.clock.now();
  return {
    version: item.version,
    mailbox: isOver ? emptyBox(address) : parseMailbox(item.body),
  };
}

export const emptyBox = (address: Address): Mailbox => ({ address, subs: [], bufs: [], ids: [] });

/** The name of a mailbox inside this process. */
export const boxName = ({ name, key }: Address): string => `${name}\0${key}`;

/** The item of a changed mailbox, without what has expired. */
export function mailboxItem(world: World, mailbox: Mailbox, version: number): Item {
  const now = world.clock.now();
  const kept = pruned(mailbox, now);
  const hasSubs = kept.subs.length > 0;
  const mustLook = kept.bufs.some(({ for: targets }) => targets !== undefined || hasSubs);
  const lasts = [...kept.bufs.map(({ expiresAt }) => expiresAt), ...kept.ids.map((id) => id.until)];
  return {
    key: keyOf(world, mailbox.address),
    version,
    body: encode(kept),
    // A wait and a message are there: if no queue brings them together, the due index does.
    ...(mustLook && { lookAt: world.settings.host.queuesSurvive ? now : AT_ONCE }),
    ...(!hasSubs && { expiresAt: instantFrom(Math.max(now, ...lasts)) }),
  };
}

export const parseMailbox = parserOf<Mailbox>("mailbox");

/** Without what has expired, and with the ids that are still remembered. */
function pruned(mailbox: Mailbox, now: Instant): Mailbox {
  return {
    ...mailbox,
    bufs: mailbox.bufs.filter(({ expiresAt }) => expiresAt > now),
    ids: mailbox.ids.filter(({ until }) => until > now).slice(-MAX_REMEMBERED_MESSAGES),
  };
}

export const remembers = (mailbox: Mailbox, mid: string): boolean =>
  rememberedAs(mailbox, mid) !== undefined;

export const rememberedAs = ({ ids }: Mailbox, mid: string): Remembered | undefined =>
  ids.find((known) => known.mid === mid);

/** With the message at the end of the queue, its id remembered. */
export function withMessage(mailbox: Mailbox, message: Buffered, id: Remembered): Mailbox {
  return { ...withId(mailbox, id), bufs: [...mailbox.bufs, message] };
}

export function withId(mailbox: Mailbox, id: Remembered): Mailbox {
  return { ...mailbox, ids: [...mailbox.ids, id] };
}

/** Whether one more message may be kept here. */
export function hasRoom(mailbox: Mailbox, message: Buffered, now: Instant): boolean {
  const kept = pruned(mailbox, now);
  if (kept.bufs.length >= MAX_BUFFERED_MESSAGES) return false;
  return encode({ ...kept, bufs: [...kept.bufs, message] }).length <= MAX_MAILBOX_BYTES;
}

/** How many messages are kept here. */
export const depthOf = ({ bufs }: Mailbox, now: Instant): number =>
  bufs.filter(({ expiresAt }) => expiresAt > now).length;

/** The oldest message that this wait may take. */
export function messageFor(
  { bufs }: Mailbox,
  ticket: Readonly<{ instanceId: string; ticket: string }>,
  now: Instant,
): Buffered | undefined {
  return bufs.find(
    ({ expiresAt, for: targets }) =>
      expiresAt > now && (targets === undefined || targets.some((it) => isSame(it, ticket))),
  );
}

/** After a target has taken the message, or can never take it any more. */
export function withoutTarget(
  mailbox: Mailbox,
  mid: string,
  target: Target,
  wasTaken: boolean,
): Mailbox {
  return {
    ...mailbox,
    bufs: mailbox.bufs.flatMap((message) =>
      message.mid === mid ? passedOn(message, target, wasTaken) : [message],
    ),
  };
}

function passedOn(message: Buffered, target: Target, wasTaken: boolean): readonly Buffered[] {
  const { for: targets, taken: takenBefore, ...plain } = message;
  if (targets === undefined) return wasTaken ? [] : [message];
  const left = targets.filter((it) => !isSame(it, target));
  const isTaken = takenBefore === true || wasTaken;
  if (left.length > 0) return [{ ...plain, for: left, ...(isTaken && { taken: true }) }];
  return isTaken ? [] : [plain];
}

export const subOf = ({ subs }: Mailbox, processId: string): Sub | undefined =>
  subs.find((sub) => sub.processId === processId);

/** With this wait in the place of its process id. */
export function withSub(mailbox: Mailbox, sub: Sub): Mailbox {
  const others = mailbox.subs.filter(({ processId }) => processId !== sub.processId);
  return { ...mailbox, subs: [...others, sub] };
}

/** Without a wait that is gone: nothing is kept for it any more, and its place is free. */
export function withoutDead(mailbox: Mailbox, { instanceId, ticket }: Sub): Mailbox {
  const isDead = (sub: Sub) => sub.instanceId === instanceId && sub.ticket === ticket;
  const kept = mailbox.bufs.filter(({ for: targets }) => targets !== undefined);
  return kept.reduce(
    (box, { mid }) => withoutTarget(box, mid, { instanceId, ticket }, false),
    withoutSubs(mailbox, isDead),
  );
}

/** Without the waits that `which` names. */
export function withoutSubs(mailbox: Mailbox, which: (sub: Sub) => boolean): Mailbox {
  const subs = mailbox.subs.filter((sub) => !which(sub));
  return subs.length === mailbox.subs.length ? mailbox : { ...mailbox, subs };
}

/** Whether another process id may wait here. */
export const isCrowded = ({ subs }: Mailbox): boolean => subs.length >= MAX_WAITERS_PER_MAILBOX;

/** A change to one mailbox that belongs to a step; undefined: it has no place there any more. */
export type Posting = Readonly<{
  address: Address;
  change: (mailbox: Mailbox, version: number) => Mailbox | undefined;
}>;

/** Puts a message into its mailbox, where the wait that the step looks after will find it. */
export const postingMessage = ({ address, message, id }: Post): Posting => ({
  address,
  change: (mailbox) =>
    remembers(mailbox, message.mid) ? undefined : withMessage(mailbox, message, id),
});

/**
 * Uses up the message that begins an instance. It may do so only while no wait has begun
 * since the start was decided, or where the mailbox keeps the message for this very start.
 */
export function postingOf({ mail, definition }: CarriedStart): Posting | undefined {
  if (mail === undefined) return undefined;
  const { name, key, id, base } = mail;
  const { mid: messageId } = id;
  const target = { definitionId: definition.id };
  return {
    address: { name, key },
    change: (mailbox, version) => {
      if (base === undefined) return takenFrom(mailbox, messageId, target.definitionId);
      const isAsItWas = version === base && !remembers(mailbox, messageId);
      return isAsItWas ? withId(mailbox, id) : undefined;
    },
  };
}

function takenFrom(mailbox: Mailbox, mid: string, definitionId: string): Mailbox | undefined {
  const isKept = mailbox.bufs.some(
    (message) =>
      message.mid === mid &&
      message.for?.some((it) => "definitionId" in it && it.definitionId === definitionId),
  );
  return isKept ? withoutTarget(mailbox, mid, { definitionId }, true) : undefined;
}

function isSame(a: Target, b: Target): boolean {
  if ("definitionId" in a) return "definitionId" in b && a.definitionId === b.definitionId;
  return "ticket" in b && a.ticket === b.ticket && a.instanceId === b.instanceId;
}

const keyOf = (world: World, { name, key }: Address) =>
  mailboxKey(world.settings.tenant, name, key);

const encode = (mailbox: Mailbox): Uint8Array => encodeBody("mailbox", mailbox);
