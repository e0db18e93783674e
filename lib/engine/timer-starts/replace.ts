/**
 * What becomes of the timer starts when their definition changes: in the same commit as its head, so
 * that at no moment those of two versions are armed, nor any of one that is disabled or gone.
 *
 * The head names the start events that have an item. One that cannot be read yet belongs to a commit
 * that is seen half applied: it is waited for, since whoever passed it over would leave it armed.
 */
import type { StartEvent } from "../../definition/definition.ts";
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Write } from "../../ports/store.ts";
import {
  armed,
  disabled,
  firstVersionOf,
  itemOf,
  parseTimerStart,
  type StoredStart,
  type TimerStart,
} from "../rows/timer-start.ts";
import { timerStartKey } from "../storage/keys.ts";
import type { Latest } from "../storage/latest.ts";
import type { World } from "../world.ts";
import { armStart, disarmStart } from "./arm.ts";

export type TimerChange = Readonly<{
  /** Elements that have an item then. */
  elements: readonly string[];
  writes: readonly Write[];
  before: readonly TimerStart[];
  after: readonly TimerStart[];
}>;

export const NO_CHANGE: TimerChange = { elements: [], writes: [], before: [], after: [] };

/** A head that names the start events which have an item after this change. */
export function withTimers({ timers: _, ...head }: Latest, { elements }: TimerChange): Latest {
  return elements.length === 0 ? head : { ...head, timers: elements };
}

type Head = Pick<Latest, "id" | "hash" | "version" | "state">;

/**
 * The change from one head to the next, which will have version `run`. Each start is armed anew; one
 * that is only disabled keeps its place, and its flag alone tells that it fires nothing.
 */
export async function replaceTimers(
  world: World,
  before: Latest | undefined,
  next: Head,
  events: readonly StartEvent[],
  run: number,
): Promise<TimerChange> {
  const old = before ? await readAll(world, before) : [];
  const isOnlyDisabled = next.state === "disabled" && before?.hash === next.hash;
  if (isOnlyDisabled && before.state === "enabled") return disableAll(world, old);
  const after = next.state === "undeployed" ? [] : await armAll(world, next, events, run);
  const writes: Write[] = after.map((start) => {
    const replaced = old.find((it) => isSameItem(it.start, start));
    const put = itemOf(world, start, firstVersionOf(run));
    return { put, when: replaced ? { version: replaced.item.version } : "absent" };
  });
  for (const { item, start } of old) {
    if (after.some((it) => isSameItem(it, start))) continue;
    writes.push({ remove: item.key, when: { version: item.version } });
  }
  const elements = after.map(({ element }) => element);
  return { elements, writes, before: old.map(({ start }) => start), after };
}

function disableAll(world: World, old: readonly StoredStart[]): TimerChange {
  const writes = old.map(({ item, start }): Write => {
    const put = itemOf(world, disabled(start), item.version + 1);
    return { put, when: { version: item.version } };
  });
  const before = old.map(({ start }) => start);
  const elements = before.map(({ element }) => element);
  return { elements, writes, before, after: [] };
}

/** After the commit: the roads follow. */
export async function rearmTimers(world: World, { before, after }: TimerChange): Promise<void> {
  for (const start of before) await disarmStart(world, start);
  for (const start of after) await armStart(world, start);
}

async function armAll(
  world: World,
  { id, version, hash, state }: Head,
  events: readonly StartEvent[],
  run: number,
): Promise<readonly TimerStart[]> {
  const timers = events.flatMap((event) => (event.kind === "timer" ? [event] : []));
  const definition = { id, version, hash };
  const starts = await Promise.all(timers.map((event) => armed(world, { definition, event, run })));
  return state === "enabled" ? starts : starts.map(disabled);
}

const isSameItem = (a: TimerStart, b: TimerStart): boolean =>
  a.hash === b.hash && a.element === b.element;

async function readAll(
  world: World,
  { id: definitionId, hash, timers = [] }: Latest,
): Promise<readonly StoredStart[]> {
  if (timers.length === 0) return [];
  const { tenant } = world.settings;
  const keys = timers.map((element) => timerStartKey(tenant, { definitionId, hash, element }));
  for (let tries = 0; tries < MAX_TRIES_OF_DOOR; tries++) {
    const items = await world.store.get(keys);
    const found = items.flatMap((item) => item ?? []);
    if (found.length === keys.length) {
      return found.map((item) => ({ item, start: parseTimerStart(item.body) }));
    }
    await world.clock.pause(2 + tries);
  }
  throw new EngineError("engine/busy", {
    happened: "Somebody is changing the definition at this moment",
    where: `definition ${definitionId}`,
    fix: "Send the request again.",
    retryable: true,
  });
}
