/**
 * A start event by timer fires: one instance per occurrence, and no second.
 *
 * 1. Whether the event is still armed, and for this very occurrence, is a condition of the commit
 *    that creates the instance: who disables or undeploys meanwhile, or fires it too, changes the
 *    item, and one of the two has to look again.
 * 2. The instance begins at the instant that was due, whoever begins it and however late.
 * 3. What the start owes leaves before it, with the start inside. Who carries it counts the
 *    occurrence as well: an old copy of it creates nothing.
 */
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import type { Instant } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { CarriedStart, TimerStartMessage, Verdict } from "../../ports/message.ts";
import type { Key } from "../../ports/store.ts";
import { createInstance } from "../drive/creation.ts";
import { isAwaited } from "../rows/occurrence.ts";
import {
  afterFiring,
  dueOfStart,
  itemOf,
  occurrenceOf,
  readTimerStart,
  type StoredStart,
  type TimerStart,
} from "../rows/timer-start.ts";
import { timerStartKey } from "../storage/keys.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { armStart } from "./arm.ts";

/** An occurrence may be due; where it is, its instance is there when this releases the message. */
export async function fireStart(world: World, message: TimerStartMessage): Promise<Verdict> {
  const key = timerStartKey(world.settings.tenant, message);
  let due: Instant | undefined;
  for (let tries = 0; tries < MAX_TRIES_OF_DOOR; tries++) {
    const found = await readTimerStart(world, key);
    if (found === undefined) return "release";
    const { start } = found;
    if (!isAwaited(start, message)) {
      if (start.run === message.run && start.n === message.n + 1) {
        if (due !== undefined) tellFired(world, message, due);
        // Who fired it may have died before he armed the next one.
        await armStart(world, start);
      }
      return "release";
    }
    const now = world.clock.now();
    if (start.nextDue > now) return { keepForMs: start.nextDue - now };
    due = start.nextDue;
    if (await begin(world, { ...found, start }, now)) continue;
    await world.clock.pause(2 + tries);
  }
  return { keepForMs: CONTENDED_MS };
}

function tellFired(
  world: World,
  { definitionId, element }: TimerStartMessage,
  dueAt: Instant,
): void {
  const lateMs = world.clock.now() - dueAt;
  world.observe?.({ kind: "timer-start-fired", definitionId, element, lateMs });
}

const CONTENDED_MS = 100;

/** Fires what is due at this key, one after the other; says how many. */
export async function wakeStart(world: World, key: Key): Promise<number> {
  for (let fired = 0; ; fired++) {
    const found = await readTimerStart(world, key);
    const dueAt = found && dueOfStart(found.start);
    const isDue = dueAt !== undefined && dueAt <= world.clock.now();
    if (found === undefined || !isDue || fired === MAX_FIRED_AT_ONCE) return fired;
    const message = { kind: "timer-start", ...occurrenceOf(world, found.start) } as const;
    if ((await fireStart(world, message)) !== "release") return fired;
  }
}

/** More of a cycle that missed many have their turn after others had theirs. */
const MAX_FIRED_AT_ONCE = 100;

type Due = StoredStart & Readonly<{ start: TimerStart & Readonly<{ nextDue: Instant }> }>;

/** Whether the item has moved on; if not, others were at it, or at the same instance. */
async function begin(world: World, due: Due, now: Instant): Promise<boolean> {
  const { start } = due;
  const instanceId = idOfStarted(world, start);
  try {
    if (await loadInstance(world, instanceId)) return passOver(world, due, now);
    const created = await createInstance(world, instanceId, startOf(world, start, now));
    return created.kind === "committed";
  } catch (cause) {
    // One that cannot begin does not keep the later ones from it.
    if (!(cause instanceof EngineError) || cause.retryable) throw cause;
    world.onTrouble?.(
      `timer start ${start.element} of definition ${start.definitionId} began nothing`,
      cause,
    );
    return passOver(world, due, now);
  }
}

/** The occurrence counts, though nothing begins by it. */
async function passOver(world: World, { item, start }: Due, now: Instant): Promise<boolean> {
  const put = itemOf(world, afterFiring(start, now), item.version + 1);
  const outcome = await world.store.commit([{ put, when: { version: item.version } }]);
  return outcome.kind === "committed";
}

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
