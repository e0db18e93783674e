/**
 * Broadcast events are accepted once under their id: one commit gives the event its number,
 * remembers its id, and keeps it where its type says so. Then it is published to all who wait, or,
 * where only one may have it, offered to them.
 */
import type { Json } from "../../definition/json.ts";
import {
  MAX_KEPT_EVENTS,
  MAX_TRIES_OF_DOOR,
  MIN_MESSAGE_MEMORY_MS,
} from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Instance } from "../../kernel/instance.ts";
import type { QueuedEvent } from "../../kernel/queued-event.ts";
import { EngineError, type ErrorCode } from "../../ports/engine-error.ts";
import type { Item, Write } from "../../ports/store.ts";
import {
  type Broadcast,
  demandSameBody,
  fingerprintOf,
  publish,
  readBroadcast,
  store,
} from "../rows/broadcast.ts";
import { configOf, expiryOf } from "../rows/event-type.ts";
import { type KeptEvent, keptItem } from "../rows/kept-event.ts";
import {
  type Head,
  headItem,
  know,
  type ReadHead,
  readHead,
  topicName,
} from "../rows/topic-head.ts";
import { AT_ONCE } from "../storage/due-index.ts";
import { encodeBody, parseBody } from "../storage/formats.ts";
import { inTurn } from "../storage/in-turn.ts";
import { eventIdKey, eventPk, KEPT_EVENTS } from "../storage/keys.ts";
import { replacing } from "../storage/put-absent.ts";
import type { World } from "../world.ts";
import { bury } from "./dead-letter.ts";

export type NewEvent = Readonly<{ id: string; name: string; payload: Json }>;

/** An accepted event; `isNew` is false where this id was accepted before. */
export type AcceptedEvent = Omit<KeptEvent, "version"> & Readonly<{ isNew: boolean }>;

export function acceptEvent(world: World, event: NewEvent): Promise<AcceptedEvent> {
  const name = topicName({ kind: "event", name: event.name });
  return inTurn(world, name, () => acceptInTurn(world, event));
}

async function acceptInTurn(world: World, event: NewEvent): Promise<AcceptedEvent> {
  const topic = { kind: "event", name: event.name } as const;
  const body = fingerprintOf(world, topic, event.payload);
  for (let tries = 0; tries < MAX_TRIES_OF_DOOR; tries++) {
    const [found] = await world.store.get([eventIdKey(world.settings.tenant, event.id)]);
    const known = found && acceptedBefore(world, found, event, body);
    if (known) return { ...known, isNew: false };
    // A signal may have this id: the two share their receipts.
    const taken = await readBroadcast(world, event.id);
    if (taken) demandSameBody(taken.body, body, `event ${event.id}`);
    const read = await readHead(world, topic);
    const accepted = numbered(world, event, read.head);
    const kept = await keptAfter(world, accepted, read);
    const acceptance = { accepted, body, kept, read, found };
    const outcome = await world.store.commit(writesFor(world, acceptance));
    if (outcome.kind === "committed") {
      const head = { ...read.head, seq: accepted.seq, kept };
      know(world, topic, { version: read.version + 1, head });
      return { ...accepted, isNew: true };
    }
    await world.clock.pause(outcome.kind === "busy" ? outcome.retryAfterMs : 2 + tries);
  }
  throw new EngineError("engine/busy", {
    happened: "Too many events of one name at once",
    where: `event ${event.name}`,
    fix: "Send it again in a second, with the same id.",
    retryable: true,
  });
}

/**
 * What an ended instance left unread goes to everybody, under the id that it has. Where it may not,
 * because its id was used for something else or too many are kept, it becomes a dead letter.
 */
export async function sendLeft(
  world: World,
  { id, status }: Instance,
  { event }: Readonly<{ event: QueuedEvent }>,
): Promise<void> {
  if (await broadcastAgain(world, event)) return;
  await bury(world, id, { event, targetStatus: status === "live" ? "cancelled" : status });
}

async function broadcastAgain(world: World, event: QueuedEvent): Promise<boolean> {
  try {
    const broadcast = await passOn(world, await acceptEvent(world, event));
    if (broadcast) await publish(world, broadcast);
    return true;
  } catch (cause) {
    if (cause instanceof EngineError && REFUSALS.includes(cause.code)) return false;
    throw cause;
  }
}

const REFUSALS: readonly ErrorCode[] = ["request/key-reused", "event/too-many-kept"];

/** Sends an accepted event on its way; what waits for it takes it from there. */
export async function passOn(world: World, event: AcceptedEvent): Promise<Broadcast | undefined> {
  const { tenant } = world.settings;
  const { id, name, seq, payload, at, expiresAt, mode } = event;
  if (event.once) {
    await world.pages.send({ kind: "offer", tenant, name, seq });
    return undefined;
  }
  const topic = { kind: "event", name } as const;
  const body = fingerprintOf(world, topic, payload);
  const keptFor = mode === "AfterWait" ? {} : { keptFor: mode };
  const broadcast = { id, topic, seq, payload, at, body, expiresAt, ...keptFor };
  const stored = await store(world, broadcast);
  demandSameBody(stored.body, body, `event ${id}`);
  return stored;
}

function numbered(
  world: World,
  { id, name, payload }: NewEvent,
  head: Head,
): Omit<KeptEvent, "version"> {
  const config = configOf(head);
  const at = world.clock.now();
  return {
    name,
    seq: head.seq + 1,
    id,
    payload,
    at,
    expiresAt: expiryOf(config, at),
    once: config.consumeOnRead,
    mode: config.deliveryMode,
  };
}

type Acceptance = Readonly<{
  accepted: Omit<KeptEvent, "version">;
  body: string;
  kept: number;
  read: ReadHead;
  /** What stands under its id, and has had its time. */
  found: Item | undefined;
}>;

function writesFor(
  world: World,
  { accepted, body, kept, read: { version, head }, found }: Acceptance,
): readonly [Write, ...Write[]] {
  const topic = { kind: "event", name: accepted.name } as const;
  const changed = { ...head, seq: accepted.seq, kept };
  const event = { ...accepted, version: 1 };
  // Offered, but not taken yet: if nobody brings them together, a look will.
  const lookAt = world.settings.host.queuesSurvive ? accepted.at : AT_ONCE;
  const put = keptItem(world, event, accepted.once ? lookAt : undefined);
  return [
    { put: headItem(world, topic, version + 1, changed), when: { version } },
    replacing(found, idItem(world, accepted, body)),
    ...(isKept(accepted) ? [{ put, when: "absent" } as const] : []),
  ];
}

/** One that only one may have is stored at least until it has found its taker. */
const isKept = ({ once, mode }: Omit<KeptEvent, "version">): boolean =>
  once || mode !== "AfterWait";

/** How many are kept, roughly: counted only when there seem to be too many. */
async function keptAfter(
  world: World,
  event: Omit<KeptEvent, "version">,
  { head }: ReadHead,
): Promise<number> {
  const kept = head.kept ?? 0;
  if (!isKept(event)) return kept;
  if (kept < MAX_KEPT_EVENTS) return kept + 1;
  const counted = await countKept(world, event.name);
  if (counted < MAX_KEPT_EVENTS) return counted + 1;
  throw new EngineError("event/too-many-kept", {
    happened: `${MAX_KEPT_EVENTS} events of this name are kept already`,
    where: `event ${event.name}`,
    fix: "Let instances take them, or declare a shorter expireAfter; nothing was stored.",
    retryable: true,
  });
}

async function countKept(world: World, name: string): Promise<number> {
  const now = world.clock.now();
  let count = 0;
  let after: string | undefined;
  do {
    const range = { ...KEPT_EVENTS, limit: 1_000, ...(after !== undefined && { after }) };
    const page = await world.store.scan(eventPk(world.settings.tenant, name), range);
    count += page.items.filter(({ expiresAt }) => (expiresAt ?? now) > now).length;
    after = page.next;
  } while (after !== undefined);
  return count;
}

function idItem(world: World, accepted: Omit<KeptEvent, "version">, body: string): Item {
  const { name, id, payload: _, ...rest } = accepted;
  return {
    key: eventIdKey(world.settings.tenant, id),
    version: 1,
    body: encodeBody("event-id", { ...rest, body }),
    expiresAt: instantFrom(Math.max(accepted.expiresAt, accepted.at + MIN_MESSAGE_MEMORY_MS)),
  };
}

/** What was accepted under the id; undefined when that has had its time. */
function acceptedBefore(
  world: World,
  item: Item,
  { id, name, payload }: NewEvent,
  body: string,
): Omit<KeptEvent, "version"> | undefined {
  if ((item.expiresAt ?? 0) <= world.clock.now()) return undefined;
  const { body: found, ...rest } = parseId(item.body);
  demandSameBody(found, body, `event ${id}`);
  return { name, id, payload, ...rest };
}

type StoredId = Readonly<{
  seq: number;
  at: Instant;
  expiresAt: Instant;
  once: boolean;
  mode: KeptEvent["mode"];
  body: string;
}>;

function parseId(body: Uint8Array): StoredId {
  return parseBody("event-id", body) as StoredId;
}
