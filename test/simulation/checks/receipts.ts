// What receipts say when everything rests.

import type { SimulatedWorld } from "../world/world.ts";
import { stable } from "./oracle.ts";
import { must } from "./violation.ts";

/**
 * 1. Every receipt is complete, and its parts add up to what it matched.
 * 2. Nobody is counted twice, whatever goes wrong: at most those who received or began.
 * 3. Nothing is left out where nothing goes wrong, nor by a single fault where queues are in memory.
 *    With durable queues those may be left out who helped themselves because a fault held its pages
 *    up for too long.
 * 4. Starts are counted exactly, unless the definition changed: its row may be gone by then.
 */
export async function checkReceipts(world: SimulatedWorld): Promise<void> {
  const { traffic, reception, scenario } = world.stage;
  // Pages that were lost are not counted, and nobody knows of them.
  if (scenario.restoredAtMs !== undefined) return;
  const { engine } = world.observer();
  for (const { id, mode } of traffic.broadcasts.values()) {
    const receipt = await engine.receipt(id);
    const { matched, delivered, skipped, started, expired, failed } = receipt;
    must(receipt.complete, () => `the receipt of ${id} never completes: ${stable(receipt)}`);
    must(
      matched === delivered + skipped + started + expired + failed.length,
      () => `the receipt of ${id} does not add up: ${stable(receipt)}`,
    );
    const received = [...(reception.receivers.get(id) ?? [])];
    const mayLack = received.filter((who) => world.stage.missed.has(`${who} ${id}`)).length;
    const began = [...reception.started.keys()].filter((it) => it.endsWith(` ${id}`));
    const sure = began.filter((it) => traffic.changesOf(it.slice(0, -id.length - 1)) === 1);
    const counted = delivered + failed.length;
    // What is kept also reaches waits that begin after everybody was counted.
    const isWhole =
      mode !== "AfterWait" || !world.hasFewFaults || counted >= received.length - mayLack;
    must(
      counted <= received.length && isWhole && started >= sure.length && started <= began.length,
      () => `${received.length} received ${id}, ${began.length} began by it: ${stable(receipt)}`,
    );
  }
}
