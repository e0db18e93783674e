import type { Instant } from "../../definition/time/instant.ts";
import type { CarriedStart, TimerStartMessage } from "../../ports/message.ts";
import type { Write } from "../../ports/store.ts";
import { timerStartKey } from "../storage/keys.ts";
import type { World } from "../world.ts";
import { afterFiring, itemOf, readTimerStart, type TimerStart } from "./timer-start.ts";

/** Whether the start event is armed for this occurrence: it is the next one, and enabled. */
export function isAwaited(
  start: TimerStart,
  { run, n }: Pick<TimerStartMessage, "run" | "n">,
): start is TimerStart & Readonly<{ nextDue: Instant }> {
  if (!start.enabled) return false;
  return start.run === run && start.n === n && start.nextDue !== undefined;
}

/**
 * The write that counts the occurrence which a start was carried for; undefined when it has been
 * counted already, or will never be: its start event was disabled, replaced or removed.
 */
export async function firedWrite(
  world: World,
  { definition, fact, timer }: CarriedStart,
): Promise<Write | undefined> {
  const element = fact.input.trigger?.element;
  if (timer === undefined || element === undefined) return undefined;
  const { id: definitionId, hash } = definition;
  const key = timerStartKey(world.settings.tenant, { definitionId, hash, element });
  const found = await readTimerStart(world, key);
  if (found === undefined || !isAwaited(found.start, timer)) return undefined;
  const { item, start } = found;
  const put = itemOf(world, afterFiring(start, timer.at), item.version + 1);
  return { put, when: { version: item.version } };
}
