// The receipts when everything rests.

import type { SimulatedWorld } from "../world/world.ts";
import { stable } from "./oracle.ts";
import { must } from "./violation.ts";

/**
 * 1. Every receipt is complete, and its parts add up to what it matched.
 * 2. No wait is counted twice, whatever fails: at most the waits that received it and the starts.
 * 3. Nothing is left out without faults, nor by a single fault with queues in memory. With durable
 *    queues, waits may be left out that took it by themselves because a fault delayed its pages for
 *    too long.
 * 4. Starts are counted exactly, unless the definition changed: its row may be gone by then.
 */
export async function checkReceipts(world: SimulatedWorld): Promise<void> {
  const { traffic, reception, scenario } = world.stage;
  // Lost pages are not counted.
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
    // A kept event also reaches waits that open after the count.
    const isWhole =
      mode !== "AfterWait" || !world.hasFewFaults || counted >= received.length - mayLack;
    must(
      counted <= received.length && isWhole && started >= sure.length && started <= began.length,
      () =>
        `${received.length} received ${id}, ${began.length} were started by it: ${stable(receipt)}`,
    );
  }
}
