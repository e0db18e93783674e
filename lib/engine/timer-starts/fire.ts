/**
 * A start event by timer fires: one instance per occurrence, and no second.
 *
 * 1. Whether the event is still armed, and for this very occurrence, is a condition of the commit
 *    that creates the instance: a request that disables or undeploys it, or another copy of the
 *    message, changes the item, and one of the two has to read it again.
 * 2. The instance begins at the instant that was due, however late it is created.
 * 3. What the start owes leaves before it, with the start inside. That copy counts the occurrence as
 *    well: an old one creates nothing.
 */
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import type { Instant } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { CarriedStart, TimerStartMessage, Verdict } from "../../ports/message.ts";
import type { Key, Write } from "../../ports/store.ts";
import { createInstance } from "../drive/creation.ts";
import {
  afterFiring,
  dueOfStart,
  isAwaited,
  itemOf,
  occurrenceOf,
  readTimerStart,
  type StoredStart,
  type TimerStart,
} from "../rows/timer-start.ts";
import { replacing } from "../storage/items.ts";
import { timerStartKey } from "../storage/keys.ts";
import { Again, again, tryRepeatedly } from "../storage/retrying.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";

/** Fires an occurrence if it is due; its instance is there when this releases the message. */
export async function fireStart(world: World, message: TimerStartMessage): Promise<Verdict> {
  const key = timerStartKey(world.settings.tenant, message);
  let due: Instant | undefined;
  const verdict = await tryRepeatedly(world, { tries: MAX_TRIES_OF_DOOR }, async () => {
    let found = await readTimerStart(world, key);
    if (found && isAwaited(found.start, message)) {
      const now = world.clock.now();
      due = found.start.nextDue;
      if (due > now) return { keepForMs: due - now };
      if (!(await begin(world, { ...found, start: found.start }, now))) return again();
      found = await readTimerStart(world, key);
    }
    const { start } = found ?? {};
    if (start?.run === message.run && start.n === message.n + 1) {
      if (due !== undefined) {
        const { definitionId, element } = message;
        const lateMs = world.clock.now() - due;
        world.observe?.({ kind: "timer-start-fired", definitionId, element, lateMs });
      }
      // The process that fired it may have died before it armed the next one.
      await armStart(world, start);
    }
    return "release" as const;
  });
  return verdict instanceof Again ? { keepForMs: CONTENDED_MS } : verdict;
}

const CONTENDED_MS = 100;

/** Fires what is due at this key, one after the other; says how many. */
export async function wakeStart(world: World, key: Key): Promise<number> {
  for (let fired = 0; fired < MAX_FIRED_AT_ONCE; fired++) {
    const found = await readTimerStart(world, key);
    const dueAt = found && dueOfStart(found.start);
    if (!found || dueAt === undefined || dueAt > world.clock.now()) return fired;
    const message = { kind: "timer-start", ...occurrenceOf(world, found.start) } as const;
    if ((await fireStart(world, message)) !== "release") return fired;
  }
  return MAX_FIRED_AT_ONCE;
}

/** An item with more to fire waits until others had their turn. */
export const MAX_FIRED_AT_ONCE = 100;

type Due = StoredStart & Readonly<{ start: TimerStart & Readonly<{ nextDue: Instant }> }>;

/** Whether the item has moved on; if not, another writer changed it, or created the instance. */
async function begin(world: World, due: Due, now: Instant): Promise<boolean> {
  const { start } = due;
  const instanceId = idOfStarted(world, start);
  try {
    if (await loadInstance(world, instanceId)) return passOver(world, due, now);
    const created = await createInstance(world, instanceId, startOf(world, start, now));
    return created.kind === "committed";
  } catch (cause) {
    // An occurrence that cannot begin does not hold up the later ones.
    if (!(cause instanceof EngineError) || cause.retryable) throw cause;
    world.onTrouble?.(
      `timer start ${start.element} of definition ${start.definitionId} began nothing`,
      cause,
    );
    return passOver(world, due, now);
  }
}

/** Counts the occurrence, though no instance begins by it. */
async function passOver(world: World, due: Due, now: Instant): Promise<boolean> {
  const fired = startWrite(world, due, afterFiring(due.start, now));
  return (await world.store.commit([fired])).kind === "committed";
}

/** Puts a start event in the place of the one that was read. */
export const startWrite = (world: World, { item }: StoredStart, start: TimerStart): Write =>
  replacing(item, itemOf(world, start, item.version));

/** The same for every copy of the message: it begins one instance. */
const idOfStarted = (world: World, { definitionId, element, run, n }: TimerStart): string =>
  world.ids.digest(`timer\n${definitionId}\n${element}\n${run}\n${n}`);

/** Its head is not read: so few begin by time that the first shard holds them all. */
function startOf(world: World, start: Due["start"], at: Instant): CarriedStart {
  const { definitionId: id, version, hash, element, run, n, nextDue } = start;
  return {
    definition: { id, version, hash },
    now: nextDue,
    request: world.ids.digest(`timer\n${run}\n${n}`),
    fact: { kind: "started", input: { variables: {}, trigger: { element, payload: {} } } },
    timer: { run, n, at },
  };
}

/**
 * Arms the next occurrence, if there is one. That is a hint: the item itself is looked at when it is
 * due, so where arming fails the occurrence is late at worst.
 */
export async function armStart(world: World, start: TimerStart, covered = true): Promise<void> {
  const { definitionId, element } = start;
  const dueAt = dueOfStart(start);
  if (dueAt === undefined) return;
  try {
    await world.timers.arm({ ...occurrenceOf(world, start), dueAt, covered });
  } catch (error) {
    if (!covered) throw error;
    world.onTrouble?.(`timer start ${element} of definition ${definitionId} was not armed`, error);
  }
}

/** Disarms what was armed, as far as possible. */
export async function disarmStart(world: World, start: TimerStart): Promise<void> {
  const dueAt = dueOfStart(start);
  if (dueAt === undefined) return;
  await world.timers.disarm({ ...occurrenceOf(world, start), dueAt, since: start.anchor });
}
