import type { AnyParked, Verdict } from "../../ports/message.ts";
import type { Parking } from "../../ports/parking.ts";
import { type DeliveryFault, type Queued, SimulatedQueue } from "./queue.ts";

/** Parking in memory, delivered by the world: in order and in batches unless it chooses otherwise. */
export class SimulatedParking extends SimulatedQueue<AnyParked> implements Parking {
  park(message: AnyParked): Promise<void> {
    return this.send(message);
  }

  /**
   * What may be delivered together: for each instance its oldest ready messages, up to `most`. An
   * instance is left out while one of its messages is being delivered, or an older one waits.
   */
  batches(most = 10): readonly (readonly Queued<AnyParked>[])[] {
    const ready = new Set(this.ready().map(({ id }) => id));
    const groups = Map.groupBy(this.all(), ({ message }) => groupOf(message));
    const batches: (readonly Queued<AnyParked>[])[] = [];
    for (const group of groups.values()) {
      const blockedFrom = group.findIndex(({ id }) => !ready.has(id));
      const batch = (blockedFrom === -1 ? group : group.slice(0, blockedFrom)).slice(0, most);
      const isBusy = group.some(({ id, isRunning }) => isRunning && !ready.has(id));
      if (batch.length > 0 && !isBusy) batches.push(batch);
    }
    return batches;
  }

  /** Delivers messages together; the consumer's verdicts are in their order. */
  async deliverBatch(
    ids: readonly number[],
    consumer: (messages: readonly AnyParked[]) => Promise<readonly Verdict[]>,
    fault?: DeliveryFault,
  ): Promise<void> {
    const messages: AnyParked[] = [];
    const verdicts = Promise.withResolvers<readonly Verdict[]>();
    const take = async (message: AnyParked): Promise<Verdict> => {
      const place = messages.push(message) - 1; // an id that is gone takes none
      return (await verdicts.promise)[place] ?? { keepForMs: 0 };
    };
    const settled = Promise.all(ids.map((id) => this.deliver(id, take, fault)));
    consumer(messages).then(verdicts.resolve, verdicts.reject);
    await settled;
  }
}

function groupOf({ tenant, instanceId }: AnyParked): string {
  return `${tenant}\0${instanceId}`;
}
