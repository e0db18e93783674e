import { BatchWriteItemCommand } from "@aws-sdk/client-dynamodb";
import type { Key } from "../../ports/store.ts";
import { distinctKeys, keyAttributes, nameOf, parseKey } from "./attributes.ts";
import { commitFailed, meaningOf } from "./failure.ts";
import { sendUntilDone } from "./leftovers.ts";
import { sentOnce } from "./send-once.ts";
import type { TableAccess } from "./table-access.ts";

/** Keys that one batch of removals takes. */
const AT_ONCE = 25;

/**
 * Removes the rows, best effort: rows that stay throttled, or may be removed already, are left
 * alone.
 */
export async function removeRows(access: TableAccess, keys: readonly Key[]): Promise<void> {
  const all = distinctKeys(keys);
  const starts = all.flatMap((_, n) => (n % AT_ONCE === 0 ? [n] : []));
  await Promise.all(starts.map((n) => removeSome(access, all.slice(n, n + AT_ONCE))));
}

async function removeSome(access: TableAccess, keys: readonly Key[]): Promise<void> {
  try {
    await sendUntilDone(keys, (left) => removeBatch(access, left), access.patience);
  } catch (thrown) {
    const failure = sentOnce(thrown);
    if (meaningOf(failure) === "refused") throw commitFailed(access.table, failure);
  }
}

/** Returns the keys that are still to be removed: all of them when the table is throttled. */
async function removeBatch(access: TableAccess, keys: readonly Key[]): Promise<readonly Key[]> {
  try {
    const left = await sendBatch(access, keys);
    const names = new Set(left.map(nameOf));
    access.metering?.removed(keys.filter((key) => !names.has(nameOf(key))));
    return left;
  } catch (thrown) {
    if (meaningOf(sentOnce(thrown)) === "busy") return keys;
    throw thrown;
  }
}

async function sendBatch({ client, table }: TableAccess, keys: readonly Key[]) {
  const requests = keys.map((key) => ({ DeleteRequest: { Key: keyAttributes(key) } }));
  const { UnprocessedItems } = await client.send(
    new BatchWriteItemCommand({ RequestItems: { [table]: requests } }),
  );
  return (UnprocessedItems?.[table] ?? []).flatMap(({ DeleteRequest }) =>
    DeleteRequest?.Key === undefined ? [] : [parseKey(DeleteRequest.Key)],
  );
}
