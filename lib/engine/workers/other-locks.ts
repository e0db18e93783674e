/**
 * A task may have more than one row: one that was put again, one whose lock is over. Who takes such
 * a row looks whether somebody has the task by another one, before and after: of two who take
 * different rows at once, at least one sees the other and lets it be, until the lock is over. A row
 * is never taken away for that: it leads to the task until that is dead.
 */
import type { Item, Key } from "../../ports/store.ts";
import { lockedAfter, timeOfRow } from "../keys.ts";
import type { World } from "../world.ts";
import { parseOffer } from "./rows.ts";

/** Whether this row may not be the only one of its task. */
export const isInDoubt = (world: World, { key, body }: Item): boolean =>
  key.sk.startsWith("L#") ? timeOfRow(key) <= world.clock.now() : parseOffer(body).again;

/** Whether somebody has the task by a row that is neither this one nor `mine`. */
export async function isLockedElsewhere(
  world: World,
  { key, body }: Item,
  mine?: Key,
): Promise<boolean> {
  const { instanceId, ticket, attempt } = parseOffer(body);
  const range = { ...lockedAfter(world.clock.now()), limit: 200 };
  for (let after: string | undefined; ; ) {
    const page = await world.store.scan(key.pk, {
      ...range,
      ...(after !== undefined && { after }),
    });
    const isIt = page.items.some((row) => {
      const other = parseOffer(row.body);
      const isSame = other.instanceId === instanceId && other.ticket === ticket;
      const isOther = row.key.sk !== key.sk && row.key.sk !== mine?.sk;
      return isSame && isOther && other.attempt === attempt;
    });
    if (isIt || page.next === undefined) return isIt;
    after = page.next;
  }
}
