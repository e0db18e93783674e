/** Broadcasting a signal by a call. */
import { answerCall } from "../drive/commit-call.ts";
import { acceptSignal, type Broadcast } from "../rows/broadcast.ts";
import type { IdempotencyKey } from "../shapes/paging.ts";
import { checkPayloadSize } from "../shapes/payload-size.ts";
import type { SignalAnswer, SignalRequest } from "../shapes/signals.ts";
import type { World } from "../world.ts";
import { completedReceipt, deliverInCall } from "./in-call.ts";

export async function signal(
  world: World,
  { name, payload = {}, id: given }: SignalRequest,
  key?: IdempotencyKey,
): Promise<SignalAnswer> {
  checkPayloadSize(payload);
  const id = given ?? key ?? world.ids.fresh();
  return answerCall(`signal ${id}`, async (progress) => {
    const { broadcast, isNew } = await acceptSignal(world, { id, name, payload });
    progress.mayHappen = true;
    if (!isNew) return repeated(world, broadcast);
    const counts = await deliverInCall(world, broadcast);
    if (counts === undefined) return { broadcastId: id };
    return { broadcastId: id, deliveredCount: counts.delivered, startedCount: counts.started };
  });
}

/** The first call may have died before it published: that is made up for. */
async function repeated(world: World, broadcast: Broadcast): Promise<SignalAnswer> {
  const { id: broadcastId } = broadcast;
  const receipt = await completedReceipt(world, broadcast);
  if (receipt === undefined) return { broadcastId };
  const { delivered: deliveredCount, started: startedCount } = receipt;
  return { broadcastId, deliveredCount, startedCount };
}
