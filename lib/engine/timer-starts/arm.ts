/** Roads of timer starts: hints all of them, since the item itself is looked at when it is due. */

import { dueOfStart, occurrenceOf, type TimerStart } from "../rows/timer-start.ts";
import type { World } from "../world.ts";

/** Arms the next occurrence, if there is one; where that fails it is late at worst. */
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

/** Takes back what was armed, as far as that can be done. */
export async function disarmStart(world: World, start: TimerStart): Promise<void> {
  const dueAt = dueOfStart(start);
  if (dueAt === undefined) return;
  await world.timers.disarm({ ...occurrenceOf(world, start), dueAt, since: start.anchor });
}
