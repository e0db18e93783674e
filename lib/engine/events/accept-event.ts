/**
 * Broadcast events are accepted once under their id: one commit gives the event its number,
 * remembers its id, and keeps it where its type says so. Then it is published to all that wait, or,
 * where only one may have it, offered to them.
 */
import type { Json } from "../../definition/json.ts";
import { MAX_KEPT_EVENTS, MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
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
import { configOf, expiryOf, keptItem } from "../rows/event.ts";
import { type Head, headItem, know, readHead, topicName } from "../rows/topic-head.ts";
import { inTurn } from "../storage/in-process.ts";
import { scanAll } from "../storage/items.ts";
import { AT_ONCE, eventPk, KEPT_EVENTS } from "../storage/keys.ts";
import { again, retrying } from "../storage/retrying.ts";
import type { World } from "../world.ts";
import { bury } from "./dead-letter.ts";
import { type NumberedEvent, parseId, readId, writeOfId } from "./event-id.ts";

export type NewEvent = Readonly<{ id: string; name: string; payload: Json }>;

/** An accepted event; `isNew` is false where this id was accepted before. */
export type AcceptedEvent = NumberedEvent & Readonly<{ isNew: boolean }>;

export function acceptEvent(world: World, event: NewEvent): Promise<AcceptedEvent> {
  const topic = { kind: "event", name: event.name } as const;
  const body = fingerprintOf(world, topic, event.payload);
  return inTurn(world, topicName(topic), () =>
    retrying(world, { tries: MAX_TRIES_OF_DOOR, where: `event ${event.name}` }, async () => {
      const found = await readId(world, event.id);
      const known = found && acceptedBefore(world, found, event, body);
      if (known) return { ...known, isNew: false };
      // A signal may have this id: the two share their receipts.
      const taken = await readBroadcast(world, event.id);
      if (taken) demandSameBody(taken.body, body, `event ${event.id}`);
      const { version, head } = await readHead(world, topic);
      const accepted = numbered(world, event, head);
      const changed = { ...head, seq: accepted.seq, kept: await keptAfter(world, accepted, head) };
      const outcome = await world.store.commit([
        { put: headItem(world, topic, version + 1, changed), when: { version } },
        writeOfId(world, accepted, { body, found }),
        ...writesOfKeeping(world, accepted),
      ]);
      if (outcome.kind !== "committed") return again(outcome);
      know(world, topic, { version: version + 1, head: changed });
      return { ...accepted, isNew: true };
    }),
  );
}

/**
 * Broadcasts what an ended instance left unread, under the id that it has. Where that is refused,
 * because its id was used for something else or too many are kept, it becomes a dead letter.
 */
export async function sendLeft(
  world: World,
  { id, status }: Instance,
  { event }: Readonly<{ event: QueuedEvent }>,
): Promise<void> {
  try {
    const broadcast = await passOn(world, await acceptEvent(world, event));
    if (broadcast) await publish(world, broadcast);
  } catch (cause) {
    if (!(cause instanceof EngineError && REFUSALS.includes(cause.code))) throw cause;
    await bury(world, id, { event, targetStatus: status === "live" ? "cancelled" : status });
  }
}

const REFUSALS: readonly ErrorCode[] = ["request/key-reused", "event/too-many-kept"];

/** Sends an accepted event on its way; what waits for it takes it from there. */
export async function passOn(world: World, event: AcceptedEvent): Promise<Broadcast | undefined> {
  const { tenant } = world.settings;
  const { id, name, seq, payload, at, expiresAt, mode } = event;
  if (event.once) {
    await world.workQueue.send({ kind: "offer", tenant, name, seq });
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

function numbered(world: World, { id, name, payload }: NewEvent, head: Head): NumberedEvent {
  const config = configOf(head);
  const at = world.clock.now();
  return {
    ...{ name, seq: head.seq + 1, id, payload, at },
    expiresAt: expiryOf(config, at),
    once: config.consumeOnRead,
    mode: config.deliveryMode,
  };
}

function writesOfKeeping(world: World, event: NumberedEvent): readonly Write[] {
  if (!isKept(event)) return [];
  // Offered, but not taken yet: the due index finds it if no queue delivers the offer.
  const lookAt = world.settings.host.queuesSurvive ? event.at : AT_ONCE;
  const put = keptItem(world, { ...event, version: 1 }, event.once ? lookAt : undefined);
  return [{ put, when: "absent" }];
}

/** An event for one taker is stored at least until it has found one. */
const isKept = ({ once, mode }: NumberedEvent): boolean => once || mode !== "AfterWait";

/** How many are kept, roughly: counted only when there seem to be too many. */
async function keptAfter(world: World, event: NumberedEvent, { kept = 0 }: Head): Promise<number> {
  if (!isKept(event)) return kept;
  if (kept < MAX_KEPT_EVENTS) return kept + 1;
  const counted = await countKept(world, event.name);
  if (counted < MAX_KEPT_EVENTS) return counted + 1;
  throw new EngineError("event/too-many-kept", {
    happened: `${MAX_KEPT_EVENTS} events of this name are kept already`,
    where: `event ${event.name}`,
    fix: "Let instances take them, or declare a shorter expireAfter; nothing was stored.",
  });
}

async function countKept({ store, clock, settings }: World, name: string): Promise<number> {
  const now = clock.now();
  const range = { ...KEPT_EVENTS, limit: 1_000 };
  let count = 0;
  for await (const { expiresAt } of scanAll(store, eventPk(settings.tenant, name), range)) {
    if ((expiresAt ?? now) > now) count += 1;
  }
  return count;
}

/** What was accepted under the id; undefined when that has had its time. */
function acceptedBefore(
  world: World,
  item: Item,
  { id, name, payload }: NewEvent,
  body: string,
): NumberedEvent | undefined {
  if ((item.expiresAt ?? 0) <= world.clock.now()) return undefined;
  const { body: found, ...rest } = parseId(item);
  demandSameBody(found, body, `event ${id}`);
  return { name, id, payload, ...rest };
}
