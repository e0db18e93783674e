/**
 * Delivers a broadcast to one row: a wait takes it in one step, a start event starts one instance.
 *
 * 1. A wait is gone only if an instance that was committed after the wait was opened says so.
 * 2. A wait takes a broadcast once: the ticket, or the numbers that it remembers, say whether it has.
 *    What that step still owes is sent, if no invocation works on it.
 * 3. A row is removed last, and not while a delivery owes something that only this row leads to.
 */

import type { Json, Variables } from "../../definition/json.ts";
import { isWelcome } from "../../kernel/decide.ts";
import type { Instance, Ticket } from "../../kernel/instance.ts";
import { hasSeen } from "../../kernel/seen.ts";
import { runOf, type TrailEntry } from "../../kernel/trail.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { PagedRow, Verdict } from "../../ports/message.ts";
import type { Item, Key } from "../../ports/store.ts";
import { type Broadcast, factFor, readBroadcast } from "../rows/broadcast.ts";
import { mayTidyRow } from "../rows/closed.ts";
import { lifeOf } from "../rows/life.ts";
import { commitAndSend } from "../step/commit-and-send.ts";
import { CONTENDED_MS, type CommitResult, commitWithRetry } from "../step/commit-with-retry.ts";
import { showDelivered } from "../step/dispatch.ts";
import { owedBy } from "../step/owed.ts";
import { timeOf } from "../step/plan.ts";
import { redeliver } from "../step/redelivery.ts";
import { noOwner, ownerOf } from "../step/take.ts";
import { parseChunk } from "../storage/codec.ts";
import { broadcastKey, CHUNKS, instancePk } from "../storage/keys.ts";
import { deliveryName } from "../storage/names.ts";
import type { Image } from "../storage/stored-instance.ts";
import { isDamaged, readable, readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { isMeant } from "./fan-out-plan.ts";
import { type Deliverer, isComplete, type Outcome, readProgress, type Settled } from "./receipt.ts";
import { idOfStarted, startByBroadcast } from "./start.ts";

export async function deliver(
  world: World,
  broadcast: Broadcast,
  row: PagedRow,
  by: Deliverer,
): Promise<Outcome> {
  if (!isMeant(broadcast, row)) return NOT_MEANT;
  try {
    if ("definitionId" in row) return await startByBroadcast(world, broadcast, row);
    const name = deliveryName(row.ticket, broadcast.seq);
    return await deliverToWait({ world, broadcast, row, by, name });
  } catch (cause) {
    // An instance that cannot be read, or cannot begin, blocks no other, and is named.
    if (!(cause instanceof EngineError) || cause.retryable) throw cause;
    const instanceId = "definitionId" in row ? idOfStarted(world, broadcast, row) : row.instanceId;
    return { kind: "failed", failed: { instanceId, message: cause.message } };
  }
}

type Delivery = Readonly<{
  world: World;
  broadcast: Broadcast;
  row: Extract<PagedRow, { instanceId: string }>;
  by: Deliverer;
  /** The trigger of what the delivery's step owes. */
  name: string;
}>;

async function deliverToWait(delivery: Delivery): Promise<Outcome> {
  const { world, broadcast, row } = delivery;
  const life = await lifeOf(world, { ...row, since: row.at });
  if (life.kind === "unsure") return later(UNSURE_MS);
  if (life.kind === "gone") return alreadyGone(delivery, life.image);
  const { expiresAt } = broadcast;
  if (expiresAt !== undefined && expiresAt <= world.clock.now()) return { kind: "expired" };
  const { instance } = life.image;
  const isLater = row.after >= broadcast.seq;
  // An event that is kept for instances of its time does not reach those that started later.
  const isTooYoung = broadcast.keptFor === "AfterCreate" && instance.startedAt > broadcast.at;
  if (isLater && isTooYoung) return NOT_MEANT;
  const fact = factFor(broadcast, life.ticket);
  if (isWelcome(instance, fact, { now: timeOf(world, instance) })) {
    return hand(delivery, life.image, fact);
  }
  // A later wait of an instance that has taken it: it is counted where it was taken.
  return isLater ? NOT_MEANT : alreadyGone(delivery, life.image);
}

const UNSURE_MS = 1_000;

const NOT_MEANT: Outcome = { kind: "not-meant" };

const later = (ms: number): Outcome => ({ kind: "later", ms });

async function hand(
  delivery: Delivery,
  image: Image,
  fact: ReturnType<typeof factFor>,
): Promise<Outcome> {
  const { world, broadcast, row, by, name } = delivery;
  const want = { name, fact };
  const result: CommitResult & Readonly<{ verdict?: Verdict }> =
    by === "call"
      ? await commitWithRetry(world, image, { want, owner: noOwner(world) })
      : await commitAndSend(world, image, { want, owner: ownerOf(by), leaves: row.ticket });
  if (result.kind === "gone") return alreadyGone(delivery, result.image);
  if (result.kind !== "settled") return later(CONTENDED_MS);
  const { instance } = result.image;
  const fared = faredBy(instance, result.plan.fresh.tickets);
  if (result.verdict === undefined) {
    await showDelivered(world, result.plan, broadcast.topic);
    return fared;
  }
  if (result.verdict !== "release") return later(result.verdict.keepForMs);
  return { ...fared, ...deadOf(delivery, instance) };
}

/** The wait has taken the broadcast before, or cannot take it: sends what its step still owes. */
async function alreadyGone(delivery: Delivery, image: Image | undefined): Promise<Outcome> {
  const { world, broadcast, row, by, name } = delivery;
  const taker = image && (await takerOf(world, image, broadcast, row.ticket));
  const fared = image ? faredBefore(image.instance, taker === broadcast.id, name) : SKIPPED;
  if (by === "call") return fared;
  if (image && !isUnderWay(world, image.instance, name)) {
    const verdict = await redeliver(world, image, { name }, by);
    if (verdict !== "release") return later(verdict.keepForMs);
  }
  if (fared === SKIPPED) {
    const fact = `${broadcast.topic.kind}-received` as const;
    world.observe?.({ kind: "stale", instanceId: row.instanceId, fact });
  }
  if (await isCountedElsewhere(world, broadcast, taker)) return fared;
  return { ...fared, ...deadOf(delivery, image?.instance) };
}

/** Whether another broadcast woke the wait and has not counted it yet: the row stays for that one. */
async function isCountedElsewhere(
  world: World,
  { id }: Broadcast,
  taker: string | undefined,
): Promise<boolean> {
  if (taker === undefined || taker === id) return false;
  const key = broadcastKey(world.settings.tenant, taker);
  const isCounting = async () =>
    (await readBroadcast(world, taker)) && !isComplete(await readProgress(world, taker));
  // A broadcast that cannot be read counts nothing any more.
  return (await readable(world, key, isCounting, isDamaged)) === true;
}

const SKIPPED: Settled = { kind: "skipped" };

/** Whether a queue of this process holds all that is owed: recovery has sent it after a restart. */
function isUnderWay(world: World, instance: Instance, name: string): boolean {
  const { tickets, outbox } = owedBy(instance, name);
  const isHeld = ({ id }: Ticket) => world.tasks.holds(instance.id, id);
  return outbox.length === 0 && tickets.length > 0 && tickets.every(isHeld);
}

/** The outcome of an earlier delivery; an incident that it opened still counts as its failure. */
function faredBefore(instance: Instance, wasTaken: boolean, name: string): Settled {
  const fared = faredBy(instance, owedBy(instance, name).tickets);
  return fared.kind === "failed" || wasTaken ? fared : SKIPPED;
}

/** The row, if it may go: by rule 3, and together with the page's record, so that it is counted. */
function deadOf(
  { world, row: { pk, sk, ticket }, name }: Delivery,
  instance: Instance | undefined,
): Readonly<{ dead?: Key }> {
  const isOpen = instance?.tickets.some(({ id }) => id === ticket) ?? false;
  const isFree = instance === undefined || mayTidyRow(world, instance, ticket, new Set([name]));
  return !isOpen && isFree ? { dead: { pk, sk } } : {};
}

/** The outcome of a delivery, by the tickets that it opened. */
function faredBy({ id: instanceId }: Instance, opened: readonly Ticket[]): Settled {
  const incident = opened.find(({ on }) => on === "incident");
  if (incident?.on !== "incident") return { kind: "delivered" };
  const { id: incidentId, message } = incident;
  return { kind: "failed", failed: { instanceId, incidentId, message } };
}

/**
 * The id of the broadcast that the wait took: this one, where the wait remembers it or history tells
 * of it, else the last one. Undefined: none, or so long ago that it does not matter.
 */
async function takerOf(
  world: World,
  image: Image,
  broadcast: Broadcast,
  ticket: string,
): Promise<string | undefined> {
  const { instance } = image;
  const open = instance.tickets.find(({ id }) => id === ticket);
  if (open?.on === "signal" && open.taken) {
    return hasSeen(open.taken, broadcast.seq) ? broadcast.id : undefined;
  }
  const inside = takenIn(instance.trail.entries, ticket);
  if (inside.includes(broadcast.id)) return broadcast.id;
  // One that stayed open has taken several: what it took first may have left the instance by now.
  const taken = [...takenIn(await spilled(world, image), ticket), ...inside];
  return taken.includes(broadcast.id) ? broadcast.id : taken.at(-1);
}

function takenIn(entries: readonly TrailEntry[], ticket: string): readonly string[] {
  return entries.flatMap(({ type, data }) => {
    if (type !== "signal-received" && type !== "event-received") return [];
    const { wait, broadcastId, eventId }: Variables = isObject(data) ? data : {};
    const id = broadcastId ?? eventId;
    return wait === ticket && typeof id === "string" ? [id] : [];
  });
}

/** The newest history that has left the instance. */
async function spilled(world: World, { instance, program }: Image): Promise<readonly TrailEntry[]> {
  const hasSpilled = instance.trail.next - instance.trail.entries.length > 1;
  if (!hasSpilled) return [];
  const pk = instancePk(world.settings.tenant, instance.id);
  const page = await world.store.scan(pk, { ...CHUNKS, limit: NEWEST, backwards: true });
  const parse = ({ body }: Item) => parseChunk(body, program.definition, runOf(instance));
  return readableOf(world, page.items.toReversed(), parse).flat();
}

const NEWEST = 50;

const isObject = (data: Json | undefined): data is Variables =>
  typeof data === "object" && data !== null && !Array.isArray(data);
