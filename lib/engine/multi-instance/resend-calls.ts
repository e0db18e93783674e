/**
 * What a recovery does for a family of calls: begins again the children that have not begun, and
 * lets the ends be taken that nobody has told of. A child that lives looks after itself, and counts
 * as nothing. Children are read many at a time, and not decoded: what has ended has an expiry.
 */
import { itemsOf } from "../../kernel/batch.ts";
import type { CallBatch, Instance } from "../../kernel/instance.ts";
import { childIdOf } from "../rows/child.ts";
import { pageSizeIn } from "../step/owed.ts";
import { instanceKey } from "../storage/keys.ts";
import { readMany } from "../storage/read-many.ts";
import type { World } from "../world.ts";
import { sendBatch, sendItems } from "./send-batch.ts";

/** Says for how many of them there was anything to do; those that go by page are not counted. */
export async function resendCalls(
  world: World,
  instance: Instance,
  family: CallBatch,
): Promise<number> {
  const members = itemsOf(family);
  const children = await readMany(
    world.store,
    members.map(({ id }) => instanceKey(instance.tenant, childIdOf(world, instance, id))),
  );
  // A detached call waits for nothing but that its child is there.
  const isFine = (n: number) => {
    const child = children[n];
    return child !== undefined && child.expiresAt === undefined && !family.call.detached;
  };
  const lost = members.filter((_, n) => !isFine(n));
  if (lost.length <= pageSizeIn(world)) return sendItems(world, instance, lost, "again");
  await sendBatch(world, instance, family, "again");
  return 0;
}
