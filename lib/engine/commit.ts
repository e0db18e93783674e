/** The writing half of a step: one put of the whole instance under the version that was read. */
import type { Item, Write } from "../ports/store.ts";
import type { Plan } from "./plan.ts";
import { type Image, imageOf, rememberImage } from "./stored-instance.ts";
import type { World } from "./world.ts";

/** `current` is absent when the instance is. */
export type Committed = Readonly<
  | { kind: "committed"; image: Image }
  | { kind: "conflict"; current?: Image }
  | { kind: "busy"; retryAfterMs: number }
>;

/** Commits a plan on behalf of `own`. */
export async function commit(world: World, plan: Plan, own: string | null): Promise<Committed> {
  if (plan.chunk) await world.store.commit([{ put: plan.chunk, when: "newer" }]);
  const when = plan.before.version === 0 ? "absent" : { version: plan.before.version };
  return put(world, plan, { put: plan.item, when }, own);
}

async function put(world: World, plan: Plan, write: Write, own: string | null): Promise<Committed> {
  const outcome = await world.store.commit([write]);
  switch (outcome.kind) {
    case "committed":
      return done(world, plan);
    case "conflict": {
      const [refused] = outcome.current;
      const item = refused && !refused.ok ? refused.item : undefined;
      return item ? { kind: "conflict", current: await imageOf(world, item) } : ABSENT;
    }
    case "busy":
      return outcome;
    case "unknown":
      return findOut(world, plan, write, own);
  }
}

/** Nobody said what became of the put: only a strong read can tell, never a blind repeat. */
async function findOut(
  world: World,
  plan: Plan,
  write: Write,
  own: string | null,
): Promise<Committed> {
  const [item] = await world.store.get([plan.item.key]);
  // Under the same version a second put is safe: if the first arrives late, one of them conflicts.
  if ((item?.version ?? 0) === plan.before.version) return put(world, plan, write, own);
  if (item === undefined) return ABSENT;
  const current = await imageOf(world, item);
  return isMine(plan, item, current, own) ? done(world, plan) : { kind: "conflict", current };
}

/** The very bytes, or, if others have written since, something that only this owner stamps. */
function isMine(plan: Plan, item: Item, { instance }: Image, own: string | null): boolean {
  if (item.version === plan.item.version) return sameBytes(item.body, plan.item.body);
  const stamped = [...instance.tickets, ...instance.outbox];
  return own !== null && stamped.some(({ stamp }) => stamp?.own === own);
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, position) => byte === b[position]);
}

function done(world: World, { image, item, before }: Plan): Committed {
  rememberImage(item.body, image);
  world.onCommitted?.(image.instance, before.version === 0 ? undefined : before);
  return { kind: "committed", image };
}

const ABSENT: Committed = { kind: "conflict" };
