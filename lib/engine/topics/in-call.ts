/**
 * A broadcast that reaches few is delivered within the call that made it. The call sends nothing of
 * what the steps owe and takes no row away: the bus's copy does both, and comes in any case.
 */
import { MAX_MS_IN_CALL, MAX_ROWS_IN_CALL, ROWS_AT_ONCE } from "../../definition/limits.ts";
import type { World } from "../world.ts";
import { type Broadcast, publish } from "./broadcast.ts";
import { attempt, countsOf, rowsIfFew } from "./fan-out.ts";
import type { Fared } from "./fared.ts";
import type { Counts } from "./receipt.ts";

/** What came of it; undefined when it is too much for a call, or not done in time. */
export async function deliverInCall(
  world: World,
  broadcast: Broadcast,
): Promise<Counts | undefined> {
  // Looked up before it is published: what the bus's copy delivers first is counted all the same.
  const rows = await rowsIfFew(world, broadcast, MAX_ROWS_IN_CALL);
  const isPublished = await publish(world, broadcast);
  if (rows === undefined || !isPublished) return undefined;
  const until = world.clock.now() + MAX_MS_IN_CALL;
  const fared: Fared[] = [];
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    if (world.clock.now() > until) return undefined;
    const some = rows.slice(from, from + ROWS_AT_ONCE);
    const results = some.map((row) => attempt(world, broadcast, row, "call"));
    fared.push(...(await Promise.all(results)));
  }
  return fared.some(({ kind }) => kind === "later") ? undefined : countsOf(fared);
}
