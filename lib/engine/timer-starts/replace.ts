/**
 * Replaces the timer starts of a definition in the commit that changes its head: at no moment are
 * those of two versions armed, nor any of a definition that is disabled or gone.
 *
 * The head names the start events that have an item. An item that cannot be read yet belongs to a
 * commit that is seen half applied: the reader waits for it, since skipping it would leave it armed.
 */
import type { StartEvent } from "../../definition/definition.ts";
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import type { Item, Write } from "../../ports/store.ts";
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
import { again, retrying } from "../storage/retrying.ts";
import type { World } from "../world.ts";
import { armStart, disarmStart, startWrite } from "./fire.ts";

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

type Replacement = Readonly<{
  before: Latest | undefined;
  next: Pick<Latest, "id" | "hash" | "version" | "state">;
  events: readonly StartEvent[];
  /** The version that the next head will have. */
  run: number;
}>;

/**
 * The change from one head to the next. Each start is armed anew; one that is only disabled keeps
 * its place, and its flag alone says that it fires nothing.
 */
export async function replaceTimers(
  world: World,
  { before, next, events, run }: Replacement,
): Promise<TimerChange> {
  const old = before ? await readAll(world, before) : [];
  const starts = old.map(({ start }) => start);
  const isOnlyDisabled = next.state === "disabled" && before?.hash === next.hash;
  if (isOnlyDisabled && before.state === "enabled") {
    const writes = old.map((it) => startWrite(world, it, disabled(it.start)));
    return { elements: elementsOf(starts), writes, before: starts, after: [] };
  }
  const { id, version, hash, state } = next;
  const definition = { id, version, hash };
  const timers = events.filter((event) => event.kind === "timer");
  const anew = state === "undeployed" ? [] : timers;
  const fresh = await Promise.all(anew.map((event) => armed(world, { definition, event, run })));
  const after = state === "enabled" ? fresh : fresh.map(disabled);
  const isSame = (a: TimerStart, b: TimerStart) => a.hash === b.hash && a.element === b.element;
  const puts = after.map((start): Write => {
    const replaced = old.find((it) => isSame(it.start, start));
    const put = itemOf(world, start, firstVersionOf(run));
    return { put, when: replaced ? { version: replaced.item.version } : "absent" };
  });
  const removed = old.filter(({ start }) => !after.some((it) => isSame(it, start)));
  const removals = removed.map(
    ({ item: { key, version } }): Write => ({ remove: key, when: { version } }),
  );
  return { elements: elementsOf(after), writes: [...puts, ...removals], before: starts, after };
}

const elementsOf = (starts: readonly TimerStart[]): readonly string[] =>
  starts.map(({ element }) => element);

/** After the commit: takes back what was armed, and arms what is due now. */
export async function rearmTimers(world: World, { before, after }: TimerChange): Promise<void> {
  for (const start of before) await disarmStart(world, start);
  for (const start of after) await armStart(world, start);
}

function readAll(world: World, latest: Latest): Promise<readonly StoredStart[]> {
  const where = `definition ${latest.id}`;
  return retrying(world, { tries: MAX_TRIES_OF_DOOR, where }, async () => {
    const items = await readStarts(world, latest);
    if (items.includes(undefined)) return again();
    const found = items.filter((item) => item !== undefined);
    return found.map((item) => ({ item, start: parseTimerStart(item.body) }));
  });
}

/** The items of the start events that a head names. */
export async function readStarts(
  world: World,
  { id: definitionId, hash, timers = [] }: Latest,
): Promise<readonly (Item | undefined)[]> {
  const { tenant } = world.settings;
  const keys = timers.map((element) => timerStartKey(tenant, { definitionId, hash, element }));
  return keys.length === 0 ? [] : world.store.get(keys);
}
