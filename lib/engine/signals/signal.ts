/** Broadcasting a signal by a call. */

import { MAX_MS_IN_CALL, MAX_ROWS_IN_CALL, ROWS_AT_ONCE } from "../../definition/limits.ts";
import type { PagedRow } from "../../ports/message.ts";
import type { IdempotencyKey } from "../../shapes/paging.ts";
import type { ReceiptView, SignalAnswer, SignalRequest } from "../../shapes/signals.ts";
import { answerCall } from "../drive/commit-call.ts";
import { acceptSignal, type Broadcast, checkPayloadSize, publish } from "../rows/broadcast.ts";
import { Again, again, tryRepeatedly } from "../storage/retrying.ts";
import type { World } from "../world.ts";
import { attempt, countsOf } from "./fan-out.ts";
import { rowsIfFew } from "./fan-out-plan.ts";
import { type Counts, type Outcome, readProgress, viewReceipt } from "./receipt.ts";

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
    const counts = await (isNew ? deliverInCall : completedReceipt)(world, broadcast);
    if (counts === undefined) return { broadcastId: id };
    return { broadcastId: id, deliveredCount: counts.delivered, startedCount: counts.started };
  });
}

/**
 * Delivers a broadcast that reaches few within the call that made it; undefined when it is too much
 * for a call, or not done in time. The call sends nothing of what the steps owe and removes no row:
 * the bus's copy does both, and comes in any case. Instances that begin by it begin before it is
 * published: the bus's copy then finds them there, and does not race.
 */
export async function deliverInCall(
  world: World,
  broadcast: Broadcast,
): Promise<Counts | undefined> {
  // Looked up before it is published: what the bus's copy delivers first is counted all the same.
  const rows = await rowsIfFew(world, broadcast, MAX_ROWS_IN_CALL);
  const until = world.clock.now() + MAX_MS_IN_CALL;
  const begun = await deliverUntil(world, broadcast, rows?.filter(isStart), until);
  const isPublished = await publish(world, broadcast);
  if (begun === undefined || !isPublished) return undefined;
  const fared = await deliverUntil(world, broadcast, rows?.filter(isWait), until);
  return fared && countsOf([...begun, ...fared]);
}

/**
 * The receipt of a broadcast that was accepted before, once it is complete; undefined when that
 * takes longer than a call. The first call may have died before it published: that is made up for.
 */
export async function completedReceipt(
  world: World,
  broadcast: Broadcast,
): Promise<ReceiptView | undefined> {
  const tries = 1 + MAX_MS_IN_CALL / RECHECK_MS;
  const found = await tryRepeatedly(world, { tries }, async (tried) => {
    const receipt = viewReceipt(broadcast, await readProgress(world, broadcast.id));
    if (receipt.complete) return receipt;
    if (tried === 0) await publish(world, broadcast);
    return again({ retryAfterMs: RECHECK_MS });
  });
  return found instanceof Again ? undefined : found;
}

const RECHECK_MS = 50;

const isStart = (row: PagedRow): boolean => "definitionId" in row;
const isWait = (row: PagedRow): boolean => !isStart(row);

/** Undefined: not all of them could be dealt with in time. */
async function deliverUntil(
  world: World,
  broadcast: Broadcast,
  rows: readonly PagedRow[] | undefined,
  until: number,
): Promise<readonly Outcome[] | undefined> {
  if (rows === undefined) return undefined;
  const fared: Outcome[] = [];
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    if (world.clock.now() > until) return undefined;
    const some = rows.slice(from, from + ROWS_AT_ONCE);
    const results = some.map((row) => attempt(world, broadcast, row, "call"));
    fared.push(...(await Promise.all(results)));
  }
  return fared.some(({ kind }) => kind === "later") ? undefined : fared;
}
