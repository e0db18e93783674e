/**
 * Adopts tasks that were offered to workers while this host had no handler for their type, and now it
 * has one: they are sent, and then their rows are removed. If the handler goes again, the host that
 * gets the message puts the row back: that row has another version, and stays.
 */
import type { Item } from "../../ports/store.ts";
import type { Pace } from "../../shapes/reports.ts";
import { openTask } from "../rows/open-tickets.ts";
import { isQueued, moveToQueue } from "../rows/queue-task.ts";
import { asOffered, parseOffer } from "../rows/task-row.ts";
import { lookedForType, offerRows, taskTypes } from "../rows/task-type.ts";
import { taskMessage } from "../step/owed.ts";
import { defined } from "../storage/defined.ts";
import { eachPage, placeOf } from "../storage/items.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import { readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/** How many tasks were sent; what is left when time is over comes with the next call. */
export async function adopt(world: World, { hasTime = () => true }: Pace = {}): Promise<number> {
  let adopted = 0;
  for (const type of world.tasks.types()) {
    if (!hasTime()) return adopted;
    const act = (row: Item) => adoptOne(world, row);
    adopted += await actOnEach(world, type, { hasTime, done: "adopted", act });
  }
  if (world.ownQueues === undefined) return adopted;
  // Tasks that got a row before their type had a queue of the user's own, or were not taken by it.
  for await (const name of taskTypes(world)) {
    const type = await lookedForType(world, name);
    if (!isQueued(world, type) || world.tasks.handlerOf(name)) continue;
    if (!hasTime()) return adopted;
    const act = (row: Item) => moveToQueue(world, row, type);
    adopted += await actOnEach(world, name, { hasTime, done: "moved to its queue", act });
  }
  return adopted;
}

/** Every row of a type, page by page. */
export const offerPages = (world: World, type: string): AsyncGenerator<readonly Item[]> =>
  eachPage(({ after: cursor }) => offerRows(world, type, { limit: 100, ...defined({ cursor }) }));

type Action = Readonly<{
  hasTime: () => boolean;
  /** What `act` does, in words. */
  done: string;
  act: (row: Item) => Promise<boolean>;
}>;

/** Acts on the rows of a type; says for how many. A row that makes trouble is reported. */
async function actOnEach(
  world: World,
  type: string,
  { hasTime, done, act }: Action,
): Promise<number> {
  let count = 0;
  for await (const rows of offerPages(world, type)) {
    for (const row of rows) {
      try {
        if ((await readable(world, row.key, () => act(row))) === true) count += 1;
      } catch (error) {
        world.onTrouble?.(`${placeOf(row.key)} was not ${done}`, error);
      }
    }
    if (!hasTime()) break;
  }
  return count;
}

/** The row was put after its task was committed: a task that is not open any more is over. */
async function adoptOne(world: World, { key, version, body }: Item): Promise<boolean> {
  const offer = parseOffer(body);
  const image = await loadInstance(world, offer.instanceId);
  const open = image && openTask(image.instance, offer.ticket);
  // An attempt that is over has a row of its own after it, or had: the open one is sent.
  const task = open && (asOffered(open, offer) ?? open);
  if (image && task) await world.tasks.send(taskMessage(image.instance, task));
  await world.store.commit([{ remove: key, when: { version } }]);
  return task !== undefined;
}
