/** Broadcast events that are kept: for one taker, or for every later wait. */
import type { Json } from "../../definition/json.ts";
import { addDuration, parseDuration } from "../../definition/time/duration.ts";
import type { Instant } from "../../definition/time/instant.ts";
import { seenOf } from "../../kernel/inbox.ts";
import type { Instance } from "../../kernel/instance.ts";
import { hasSeen } from "../../kernel/seen.ts";
import type { Item } from "../../ports/store.ts";
import type { EventConfig, EventTypeView } from "../../shapes/signals.ts";
import { encodeBody, parseBody } from "../storage/formats.ts";
import { scanAll } from "../storage/items.ts";
import { eventPk, KEPT_EVENTS, keptEventKey } from "../storage/keys.ts";
import { isDamaged, readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { changeHead, type Head, peekHead } from "./topic-head.ts";

export type KeptEvent = Readonly<{
  name: string;
  seq: number;
  id: string;
  payload: Json;
  at: Instant;
  expiresAt: Instant;
  /** Only one may have it. */
  once: boolean;
  mode: EventConfig["deliveryMode"];
  /** Of its item. */
  version: number;
}>;

/** Reads on from the oldest, at most this many that the instance may take. */
export const MAX_KEPT_READ = 20;
const PAGE = 100;

/** The oldest kept events that this instance may take now, oldest first. */
export async function keptFor(
  world: World,
  name: string,
  instance: Instance,
): Promise<readonly KeptEvent[]> {
  const { store, settings, clock } = world;
  const found: KeptEvent[] = [];
  const range = { ...KEPT_EVENTS, limit: PAGE };
  for await (const item of scanAll(store, eventPk(settings.tenant, name), range)) {
    const [event] = readableOf(world, [item], parseKept, isDamaged);
    if (event && mayTake(event, instance, clock.now())) found.push(event);
    if (found.length === MAX_KEPT_READ) break;
  }
  return found;
}

/** An expired event reaches no wait; one that is for those of its time, none that began later. */
export function mayTake(event: KeptEvent, instance: Instance, now: Instant): boolean {
  if (event.expiresAt <= now) return false;
  // Who waited when it came is reached by its row; a kept copy is only for later waits.
  if (event.mode === "AfterCreate" && instance.startedAt > event.at) return false;
  return !hasSeen(seenOf(instance.seenEvents, event.name), event.seq);
}

export function keptItem(world: World, event: KeptEvent, lookAt?: Instant): Item {
  const { name, version, ...rest } = event;
  return {
    key: keptEventKey(world.settings.tenant, name, event.seq),
    version,
    body: encodeBody("kept-event", { ...rest, name }),
    expiresAt: event.expiresAt,
    ...(lookAt !== undefined && { lookAt }),
  };
}

export function parseKept({ body, version }: Pick<Item, "body" | "version">): KeptEvent {
  return { ...(parseBody("kept-event", body) as Omit<KeptEvent, "version">), version };
}

// How events of a name behave: declared once, and copied into each event when it is accepted.

/** Of events that were not declared. */
export const UNDECLARED: EventConfig = {
  consumeOnRead: true,
  deliveryMode: "AfterWait",
  expireAfter: "P7D",
  onTargetTerminated: "discard",
};

export async function setEventType(
  world: World,
  name: string,
  config: EventConfig,
): Promise<EventTypeView> {
  const { consumeOnRead, deliveryMode, expireAfter, onTargetTerminated } = config;
  const declared = { consumeOnRead, deliveryMode, expireAfter, onTargetTerminated };
  await changeHead(world, { kind: "event", name }, (head) => ({ ...head, config: declared }));
  return { name, declared: true, ...declared };
}

export async function getEventType(world: World, name: string): Promise<EventTypeView> {
  const head = await peekHead(world, { kind: "event", name });
  return { name, declared: head.config !== undefined, ...configOf(head) };
}

export const configOf = ({ config }: Head): EventConfig => config ?? UNDECLARED;

/** When an event that is accepted now is no longer worth anything. */
export function expiryOf({ expireAfter }: EventConfig, now: Instant): Instant {
  const duration = parseDuration(expireAfter);
  return duration.ok ? addDuration(now, duration.value) : now;
}
