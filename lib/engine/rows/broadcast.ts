/**
 * Broadcasts: accepted once under their id, given a number by the head of their topic, published
 * on the bus. An unanswered call is not accepted; repeating it under the same id is safe.
 */
import { canonicalJson, type Json, type Variables } from "../../definition/json.ts";
import { MAX_PAYLOAD_BYTES, RECEIPT_MS } from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { TicketFact } from "../../kernel/fact.ts";
import type { Ticket } from "../../kernel/instance.ts";
import type { Topic } from "../../ports/bus.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item } from "../../ports/store.ts";
import { encodeBody, parseBody, parserOf } from "../storage/formats.ts";
import { putAbsent, putHint, tryPutHint } from "../storage/items.ts";
import { AT_ONCE, broadcastKey, placeKey } from "../storage/keys.ts";
import type { World } from "../world.ts";
import { changeHead } from "./topic-head.ts";

/** What is stored of a broadcast. */
export type Broadcast = Readonly<{
  id: string;
  topic: Topic;
  seq: number;
  payload: Json;
  at: Instant;
  /** Fingerprint of what was asked for: the same id must ask the same. */
  body: string;
  /** Of an event: from then on it reaches no wait. */
  expiresAt?: Instant;
  /** Of an event that later waits get too: which ones. Who began to wait since has not missed it. */
  keptFor?: "AfterCreate" | "All";
}>;

export async function readBroadcast(world: World, id: string): Promise<Broadcast | undefined> {
  const [item] = await world.store.get([broadcastKey(world.settings.tenant, id)]);
  const isOver = item?.expiresAt !== undefined && item.expiresAt <= world.clock.now();
  return item && !isOver ? parseBroadcast(item.body) : undefined;
}

/** Accepts a signal; `isNew` is false where this id was accepted before. */
export async function acceptSignal(
  world: World,
  { id, name, payload }: Readonly<{ id: string; name: string; payload: Json }>,
): Promise<Readonly<{ broadcast: Broadcast; isNew: boolean }>> {
  const topic = { kind: "signal", name } as const;
  const body = fingerprintOf(world, topic, payload);
  const known = await readBroadcast(world, id);
  if (known) return { broadcast: demandSame(known, body), isNew: false };
  const { head } = await changeHead(world, topic, (found) => ({ ...found, seq: found.seq + 1 }));
  const at = world.clock.now();
  const broadcast = await store(world, { id, topic, seq: head.seq, payload, at, body });
  return { broadcast: demandSame(broadcast, body), isNew: broadcast.seq === head.seq };
}

/** Puts the broadcast where those who wait will look for it; gives what stands under its id then. */
export async function store(world: World, broadcast: Broadcast): Promise<Broadcast> {
  const { id, topic, seq, at } = broadcast;
  const { tenant, host } = world.settings;
  const expiresAt = instantFrom(at + RECEIPT_MS);
  // Its place goes first: a broadcast that exists is found by its number.
  const body = encodeBody("place", { id });
  await putAbsent(world, { key: placeKey(tenant, topic, seq), version: 1, body, expiresAt });
  // With a bus in memory the due index must name it until every wait is reached.
  const item = broadcastItem(world, broadcast, 1, host.queuesSurvive ? undefined : AT_ONCE);
  return parseBroadcast((await putAbsent(world, item)).body);
}

/** Hands the broadcast to the bus; where that is refused, the due index names it. */
export async function publish(world: World, broadcast: Broadcast): Promise<boolean> {
  const { id: broadcastId, topic, seq, at } = broadcast;
  const { tenant, host } = world.settings;
  const isPublished = await world.bus.publish({ tenant, broadcastId, topic, seq, at });
  if (isPublished || !host.queuesSurvive) return isPublished;
  await putHint(world, broadcastItem(world, broadcast, 2, world.clock.now()));
  return false;
}

/** The due index need not name it any more. */
export async function markFannedOut(world: World, broadcast: Broadcast): Promise<void> {
  await tryPutHint(world, broadcastItem(world, broadcast, 3, undefined));
}

export const fingerprintOf = (world: World, topic: Topic, payload: Json): string =>
  world.ids.digest(canonicalJson([topic.kind, topic.name, payload]));

function demandSame(broadcast: Broadcast, body: string): Broadcast {
  demandSameBody(broadcast.body, body, `${broadcast.topic.kind} ${broadcast.id}`);
  return broadcast;
}

/** The same id must ask for the same. */
export function demandSameBody(found: string, asked: string, where: string): void {
  if (found === asked) return;
  throw new EngineError("request/key-reused", {
    happened: "The id was used before, for something else",
    where,
    fix: "Use a new id for something new; repeat a request with the same name and payload.",
  });
}

/** What a broadcast is to a wait. */
export function factFor(broadcast: Broadcast, { id: ticket }: Pick<Ticket, "id">): TicketFact {
  const { id, seq, payload, topic } = broadcast;
  if (topic.kind === "event") {
    return { kind: "event-received", ticket, eventId: id, seq, payload };
  }
  const variables = parsePayload(payload);
  return { kind: "signal-received", ticket, broadcastId: id, seq, payload: variables };
}

/** The payload of a signal was checked when it was accepted. */
export function parsePayload(payload: Json): Variables {
  return (payload ?? {}) as Variables;
}

/** Which broadcast a place names. */
export function parsePlace(body: Uint8Array): string {
  return (parseBody("place", body) as { id: string }).id;
}

export const parseBroadcast = parserOf<Broadcast>("broadcast");

function broadcastItem(
  world: World,
  broadcast: Broadcast,
  version: number,
  lookAt: Instant | undefined,
): Item {
  return {
    key: broadcastKey(world.settings.tenant, broadcast.id),
    version,
    body: encodeBody("broadcast", broadcast),
    expiresAt: instantFrom(broadcast.at + RECEIPT_MS),
    ...(lookAt !== undefined && { lookAt }),
  };
}

/** Throws where a payload takes more bytes than are carried to those who wait for it. */
export function checkPayloadSize(payload: Json): void {
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (bytes <= MAX_PAYLOAD_BYTES) return;
  throw new EngineError("request/body-too-large", {
    happened: `The payload takes ${bytes} bytes, ${MAX_PAYLOAD_BYTES} is the limit`,
    where: "payload",
    fix: "Keep large values elsewhere and send references to them.",
  });
}
