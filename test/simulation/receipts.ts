// What receipts say when everything rests.
import { stable } from "./oracle.ts";
import { must } from "./violation.ts";
import type { SimulatedWorld } from "./world.ts";

/**
 * Every receipt is complete, and its parts add up to what it matched. Where everything happens in
 * order and without a fault it counts exactly those who received and began; otherwise counts may be
 * off (a dead row of an instance that has had it counts too), deliveries are not.
 */
export async function checkReceipts(world: SimulatedWorld): Promise<void> {
  const { traffic, reception } = world.stage;
  const { engine } = world.observer();
  for (const { id, mode } of traffic.broadcasts.values()) {
    const receipt = await engine.receipt(id);
    const { matched, delivered, skipped, started, expired, failed } = receipt;
    must(receipt.complete, () => `the receipt of ${id} never completes: ${stable(receipt)}`);
    must(
      matched === delivered + skipped + started + expired + failed.length,
      () => `the receipt of ${id} does not add up: ${stable(receipt)}`,
    );
    if (!world.isInOrder) continue;
    const received = reception.receivers.get(id)?.size ?? 0;
    const began = [...reception.started.keys()].filter((it) => it.endsWith(` ${id}`));
    // The row of a definition that changes meanwhile may be gone when the bus's copy counts.
    const sure = began.filter((it) => traffic.changesOf(it.slice(0, -id.length - 1)) === 1);
    // What is kept also reaches waits that begin after everybody was counted, and several of one
    // instance count as having had it.
    const isCounted = mode !== "AfterWait" || delivered + failed.length === received;
    must(
      isCounted && started >= sure.length && started <= began.length,
      () => `${received} received ${id}, ${began.length} began by it: ${stable(receipt)}`,
    );
  }
}
