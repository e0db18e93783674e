/**
 * A broadcast reaches one row: a wait takes it as one step, a start event begins one instance.
 *
 * 1. A wait is called gone only by who has read an instance that has heard of it.
 * 2. What a wait has taken already it does not take again: the ticket, or the numbers that it
 *    remembers, say so. What that step still owes is sent, if nobody works on it.
 * 3. A row goes last of all, and not while somebody left debts that only this row leads to.
 */
import { isWelcome } from "../../kernel/decide.ts";
import type { Instance, Ticket } from "../../kernel/instance.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Invocation, PagedRow, Verdict } from "../../ports/message.ts";
import type { Key } from "../../ports/store.ts";
import { type Broadcast, factFor, readBroadcast } from "../rows/broadcast.ts";
import { mayTidyRow } from "../rows/closed.ts";
import { type Life, lifeOf } from "../rows/life.ts";
import { commitWithRetry } from "../step/commit-with-retry.ts";
import { afterCommit, showDelivered } from "../step/dispatch.ts";
import { owedBy } from "../step/owed.ts";
import { type Plan, timeOf } from "../step/plan.ts";
import { dropSentRecords, redeliver } from "../step/redelivery.ts";
import { broadcastKey } from "../storage/keys.ts";
import { deliveryName } from "../storage/names.ts";
import type { Image } from "../storage/stored-instance.ts";
import { isDamaged, readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { isMeant } from "./fan-out-plan.ts";
import type { Deliverer, Outcome } from "./outcome.ts";
import { isComplete, readProgress } from "./receipt.ts";
import { idOfStarted, startByBroadcast } from "./start.ts";
import { takerOf } from "./taker.ts";

export async function deliver(
  world: World,
  broadcast: Broadcast,
  row: PagedRow,
  by: Deliverer,
): Promise<Outcome> {
  if (!isMeant(broadcast, row)) return NOT_MEANT;
  try {
    return await ("definitionId" in row
      ? startByBroadcast(world, broadcast, row)
      : deliverToWait(world, broadcast, row, by));
  } catch (cause) {
    // An instance that cannot be read, or cannot begin, blocks nobody else, and is named.
    if (!(cause instanceof EngineError) || cause.retryable) throw cause;
    const instanceId = "definitionId" in row ? idOfStarted(world, broadcast, row) : row.instanceId;
    return { kind: "failed", failed: { instanceId, message: cause.message } };
  }
}

type WaitRow = Extract<PagedRow, { instanceId: string }>;

async function deliverToWait(
  world: World,
  broadcast: Broadcast,
  row: WaitRow,
  by: Deliverer,
): Promise<Outcome> {
  const { instanceId, ticket, at: since, version } = row;
  const life = await lifeOf(world, { instanceId, ticket, since, version });
  if (life.kind === "unsure") return { kind: "later", ms: UNSURE_MS };
  if (life.kind === "gone") return alreadyGone(world, broadcast, row, life.image, by);
  if (broadcast.expiresAt !== undefined && broadcast.expiresAt <= world.clock.now()) {
    return { kind: "expired" };
  }
  return hand(world, broadcast, row, life, by);
}

const UNSURE_MS = 1_000;
const CONTENDED_MS = 100;

async function hand(
  world: World,
  broadcast: Broadcast,
  row: WaitRow,
  { image, ticket }: Extract<Life, { kind: "waits" }>,
  by: Deliverer,
): Promise<Outcome> {
  if (row.after >= broadcast.seq && isTooYoung(broadcast, image.instance)) return NOT_MEANT;
  const fact = factFor(broadcast, ticket);
  const name = deliveryName(row.ticket, broadcast.seq);
  if (!isWelcome(image.instance, fact, { now: timeOf(world, image.instance) })) {
    // A later wait of an instance that has had it: counted where it was taken.
    if (row.after >= broadcast.seq) return NOT_MEANT;
    return alreadyGone(world, broadcast, row, image, by);
  }
  const settled = await commitWithRetry(world, image, { name, fact }, ownerOf(world, by));
  switch (settled.kind) {
    case "settled": {
      const fared = faredBy(settled.image.instance, settled.plan.fresh.tickets);
      if (by !== "call") {
        const verdict = await sendOwed(world, settled.plan, settled.image, by, row.ticket);
        if (verdict !== "release") return later(verdict.keepForMs);
        return { ...fared, ...deadOf(world, row, settled.image.instance, name) };
      }
      await showDelivered(world, settled.plan, broadcast.topic);
      return fared;
    }
    case "gone":
      return alreadyGone(world, broadcast, row, settled.image, by);
    case "contended":
    case "overtaken":
      return later(CONTENDED_MS);
  }
}

/** One that is kept for those of its time only does not reach who began later. */
const isTooYoung = ({ keptFor, at }: Broadcast, { startedAt }: Instance): boolean =>
  keptFor === "AfterCreate" && startedAt > at;

const NOT_MEANT: Outcome = { kind: "not-meant" };

const later = (ms: number): Outcome => ({ kind: "later", ms });

async function sendOwed(
  world: World,
  plan: Plan,
  image: Image,
  { id }: Invocation,
  ticket: string,
): Promise<Verdict> {
  const sent = await afterCommit(world, plan, undefined, ticket);
  return dropSentRecords(world, image, sent, id);
}

const ownerOf = (world: World, by: Deliverer) =>
  by === "call" ? { own: null, until: world.clock.now() } : { own: by.id, until: by.until };

/** Taken before, by whomever, or not to be taken: what its step owes is looked after. */
async function alreadyGone(
  world: World,
  broadcast: Broadcast,
  row: WaitRow,
  image: Image | undefined,
  by: Deliverer,
): Promise<Outcome> {
  const name = deliveryName(row.ticket, broadcast.seq);
  const taker = image && (await takerOf(world, image, broadcast, row.ticket));
  const fared = image ? faredBefore(image.instance, taker === broadcast.id, name) : SKIPPED;
  if (by === "call") return fared;
  if (image && !isUnderWay(world, image.instance, name)) {
    const verdict = await redeliver(world, image, name, by);
    if (verdict !== "release") return later(verdict.keepForMs);
  }
  if (fared === SKIPPED) {
    const fact = `${broadcast.topic.kind}-received` as const;
    world.observe?.({ kind: "stale", instanceId: row.instanceId, fact });
  }
  if (await isCountedElsewhere(world, broadcast, taker)) return fared;
  return { ...fared, ...deadOf(world, row, image?.instance, name) };
}

/** Another broadcast has woken the wait, and has not counted it yet: the row is left for that. */
async function isCountedElsewhere(
  world: World,
  { id }: Broadcast,
  taker: string | undefined,
): Promise<boolean> {
  if (taker === undefined || taker === id) return false;
  // One that cannot be read counts nobody any more.
  const isCounting = await readable(
    world,
    broadcastKey(world.settings.tenant, taker),
    async () =>
      (await readBroadcast(world, taker)) && !isComplete(await readProgress(world, taker)),
    isDamaged,
  );
  return isCounting === true;
}

type Settled = Exclude<Outcome, { kind: "later" }>;

const SKIPPED: Settled = { kind: "skipped" };

/** After a restart recovery has sent what is owed: a task in the queue is not sent a second time. */
function isUnderWay(world: World, instance: Instance, name: string): boolean {
  const { tickets, outbox } = owedBy(instance, name);
  const isHeld = ({ id }: Ticket) => world.tasks.holds(instance.id, id);
  return outbox.length === 0 && tickets.length > 0 && tickets.every(isHeld);
}

/** What came of it when somebody else delivered it: an incident is still that of its delivery. */
function faredBefore(instance: Instance, wasTaken: boolean, name: string): Settled {
  const opened = instance.tickets.filter(({ stamp }) => stamp?.by === name);
  const fared = faredBy(instance, opened);
  return fared.kind === "failed" || wasTaken ? fared : SKIPPED;
}

/** The row, if it may go: by rule 3, and together with the page's record, so that it is counted. */
function deadOf(
  world: World,
  { pk, sk, ticket }: WaitRow,
  instance: Instance | undefined,
  justSent: string,
): Readonly<{ dead?: Key }> {
  const isOpen = instance?.tickets.some(({ id }) => id === ticket) ?? false;
  const isFree = instance === undefined || mayTidyRow(world, instance, ticket, new Set([justSent]));
  return !isOpen && isFree ? { dead: { pk, sk } } : {};
}

/** By the tickets that its delivery has opened. */
function faredBy({ id: instanceId }: Instance, opened: readonly Ticket[]): Settled {
  const incident = opened.find(({ on }) => on === "incident");
  if (incident?.on !== "incident") return { kind: "delivered" };
  const { id: incidentId, message } = incident;
  return { kind: "failed", failed: { instanceId, incidentId, message } };
}
