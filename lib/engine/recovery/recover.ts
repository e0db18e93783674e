/**
 * Recovery: looks at everything in the due index, and sends again what no queue holds. It takes no
 * step: the receiver of the message does, so running it at any time, twice or beside everything
 * else, changes nothing but the numbers it reports.
 */
import type { Key } from "../../ports/store.ts";
import type { PageRequest } from "../../shapes/paging.ts";
import type { RecoveryReport } from "../../shapes/reports.ts";
import { liveIds } from "../instances/listing.ts";
import { parseOffer } from "../rows/task-row.ts";
import { defined } from "../storage/defined.ts";
import { eachPage, placeOf } from "../storage/items.ts";
import { instanceIdOf, instanceKey } from "../storage/keys.ts";
import { sound } from "../storage/unreadable.ts";
import { rearmAllStarts } from "../timer-starts/schedules.ts";
import type { World } from "../world.ts";
import { offerPages } from "./adopt.ts";
import { loadAligned, recoverOne } from "./recover-instance.ts";
import { addTrouble, countedWorld, emptyTally, type Tally } from "./tally.ts";
import { type Reminded, remind } from "./wake.ts";

export async function recover(world: World): Promise<RecoveryReport> {
  const tally = emptyTally();
  const offered = new Set<string>();
  for (const type of world.tasks.types()) await collectOffered(world, type, tally, offered);
  const due: string[] = [];
  const others: Key[] = [];
  const slice = { index: 0, of: 1 };
  for await (const keys of eachPage(({ after }) =>
    world.store.due(world.clock.now(), slice, after),
  )) {
    for (const key of keys) {
      const instanceId = instanceIdOf(key);
      if (instanceId === undefined) others.push(key);
      else if (!offered.has(instanceId)) due.push(instanceId);
    }
  }
  await recoverEach(world, tally, [...offered, ...due]);
  for (const key of others) {
    try {
      const reminded = await remind(world, key);
      if (reminded !== undefined) tally[COUNT_OF[reminded]] += 1;
    } catch (error) {
      addTrouble(world, tally, key, error);
    }
  }
  return tally;
}

/** Adds the instances with tasks that were offered when no handler was here, and now one is. */
async function collectOffered(
  world: World,
  type: string,
  tally: Tally,
  offered: Set<string>,
): Promise<void> {
  for await (const rows of offerPages(world, type)) {
    for (const { key, body } of rows) {
      try {
        const offer = sound(`the offer ${placeOf(key)}`, () => parseOffer(body));
        offered.add(offer.instanceId);
      } catch (error) {
        addTrouble(world, tally, key, error);
      }
    }
  }
}

/**
 * A page of all live instances, newest first: sends again whatever they owe and arms their timers,
 * as if every queue had been emptied and every schedule deleted. For a store that was restored.
 */
export async function recoverAll(
  world: World,
  page: PageRequest,
): Promise<RecoveryReport & Readonly<{ nextCursor?: string }>> {
  const { ids, nextCursor } = await liveIds(world, page);
  const tally = emptyTally();
  await recoverEach(world, tally, ids, true);
  // Timer starts are few, and stand in no page of instances: the first page arms all of them.
  if (page.cursor === undefined) {
    await rearmAllStarts(world, tally, (key, error) => addTrouble(world, tally, key, error));
  }
  return { ...tally, ...defined({ nextCursor }) };
}

const COUNT_OF = {
  mailbox: "mailboxesPoked",
  broadcast: "broadcastsResumed",
  event: "eventsOffered",
  "timer-start": "timersFired",
} as const satisfies Record<Reminded, keyof Tally>;

async function recoverEach(
  world: World,
  tally: Tally,
  ids: readonly string[],
  isAllLost = false,
): Promise<void> {
  const { counted, sent } = countedWorld(world);
  for (const instanceId of ids) {
    const before = sent();
    try {
      const image = await loadAligned(counted, instanceId);
      const done = image && (await recoverOne(counted, image.instance, tally, isAllLost));
      if (sent() > before || done?.children) tally.resumed += 1;
      else if (!done?.timers) tally.skipped += 1;
    } catch (error) {
      addTrouble(world, tally, instanceKey(world.settings.tenant, instanceId), error);
    }
    tally.resent += sent() - before;
  }
}
