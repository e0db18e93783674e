/** The writing half of a step: one put of the whole instance under the version that was read. */
import { MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import { isTerminal, type OutboxRecord, type Ticket } from "../../kernel/instance.ts";
import type { Item, Write } from "../../ports/store.ts";
import { putKeyRows, repairKeyRows } from "../rows/key-rows.ts";
import { expireLeft, removeLeft } from "../rows/left.ts";
import { offersIn, tellOffered } from "../rows/offer.ts";
import { forgetHeads } from "../rows/topic-head.ts";
import { tryPutHint } from "../storage/items.ts";
import { type Image, imageOf, rememberImage } from "../storage/stored-instance.ts";
import { releaseBlobs, storeValues } from "../storage/values.ts";
import type { World } from "../world.ts";
import { newLongRunWarning } from "./long-run.ts";
import type { Plan } from "./plan.ts";

/** `current` is absent when the instance is. */
export type Committed = Readonly<
  | { kind: "committed"; image: Image }
  | { kind: "conflict"; current?: Image }
  /** What the step's waits stand on has changed: decide again, from the same instance. */
  | { kind: "moved" }
  | { kind: "busy"; retryAfterMs: number }
>;

/** Commits a plan on behalf of `own`. */
export async function commit(world: World, plan: Plan, own: string | null): Promise<Committed> {
  const when = plan.before.version === 0 ? "absent" : { version: plan.before.version };
  const { together, before } = await offersIn(world, plan);
  const write: Writes = [{ put: plan.item, when }, ...plan.companions, ...together];
  // First what leaves the instance, for certain: the commit drops it there.
  if (!(await storeValues(world, plan.before, plan.values))) return BUSY;
  if (plan.chunk && !(await tryPutHint(world, plan.chunk))) return BUSY;
  if (plan.before.version === 0 && !(await putKeyRows(world, plan.image.instance))) return BUSY;
  // All at once: where there are any, a store that gathers them in one flush is below.
  await Promise.all(before.map((offer) => tryPutHint(world, offer)));
  for (let tries = 0; tries < MAX_TRIES_OF_PARKED; tries++) {
    const outcome = await put(world, plan, write, own);
    if (outcome === "unwritten") continue;
    const { kind } = outcome;
    if (kind === "committed") tellOffered(world, plan);
    if (kind !== "conflict" || outcome.current === undefined) return outcome;
    return { kind, current: await afterLosing(world, plan, outcome.current) };
  }
  return BUSY;
}

/**
 * What was stored for a commit that lost belongs to no instance. If the end won, it goes now; a live
 * instance remembers, with its next commit, that its end has something to remove.
 */
async function afterLosing(world: World, plan: Plan, current: Image): Promise<Image> {
  const { instance } = current;
  if (plan.before.version === 0) await repairKeyRows(world, plan.image.instance, instance);
  if (plan.values.length === 0 && plan.chunk === undefined) return current;
  if (instance.erased) {
    await releaseBlobs(world, "remove", instance.id, plan.values);
    await removeLeft(world, instance.id);
  } else if (isTerminal(instance)) {
    await expireLeft(world, instance);
    await releaseBlobs(world, "expire", instance.id, plan.values);
  }
  return instance.apart ? current : { ...current, instance: { ...instance, apart: [] } };
}

type Writes = readonly [Write, ...Write[]];

type Tried = Committed | "unwritten";

async function put(world: World, plan: Plan, write: Writes, own: string | null): Promise<Tried> {
  const outcome = await world.store.commit(write);
  switch (outcome.kind) {
    case "committed":
      return done(world, plan);
    case "conflict": {
      const [refused] = outcome.current;
      if (refused?.ok) {
        forgetHeads(world);
        return { kind: "moved" };
      }
      const item = refused?.item;
      return item ? { kind: "conflict", current: await imageOf(world, item) } : ABSENT;
    }
    case "busy":
      return outcome;
    case "unknown":
      return findOut(world, plan, own);
  }
}

/** The outcome of the put is unknown: only a strong read can tell, never a blind repeat. */
async function findOut(world: World, plan: Plan, own: string | null): Promise<Tried> {
  const [item] = await world.store.get([plan.item.key]);
  // Under the same version a second put is safe: if the first arrives late, one of them conflicts.
  if ((item?.version ?? 0) === plan.before.version) return "unwritten";
  if (item === undefined) return ABSENT;
  const current = await imageOf(world, item);
  return isMine(plan, item, current, own) ? done(world, plan) : { kind: "conflict", current };
}

/**
 * The very bytes, or, if others have written since, an entry just as this plan would leave it and
 * under this owner's lease. A lease of this owner's earlier step proves nothing.
 */
function isMine(plan: Plan, item: Item, { instance }: Image, own: string | null): boolean {
  if (item.version === plan.item.version) return sameBytes(item.body, plan.item.body);
  const { tickets, outbox } = plan.fresh;
  const mine = [...tickets, ...outbox].filter(({ lease }) => own !== null && lease?.owner === own);
  const marks = new Set(mine.map(markOf));
  return [...instance.tickets, ...instance.outbox].some((entry) => marks.has(markOf(entry)));
}

/** What a step changes about an entry: who owes it, which attempt it is, who claimed it. */
function markOf(entry: Ticket | OutboxRecord): string {
  const { id, lease } = entry;
  const [attempt, claim] = "attempt" in entry ? [entry.attempt, entry.claim] : [];
  return JSON.stringify([id, lease?.trigger, lease?.owner, lease?.expiresAt, attempt, claim]);
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, position) => byte === b[position]);
}

function done(world: World, { image, item, before }: Plan): Committed {
  rememberImage(item.body, image);
  world.onCommitted?.(image.instance, before.version === 0 ? undefined : before);
  const warning = newLongRunWarning(image.instance, before);
  if (warning !== undefined) world.onTrouble?.(`instance ${image.instance.id}`, warning);
  return { kind: "committed", image };
}

const ABSENT: Committed = { kind: "conflict" };
const BUSY: Committed = { kind: "busy", retryAfterMs: 100 };
