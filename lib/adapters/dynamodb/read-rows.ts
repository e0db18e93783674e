import { BatchGetItemCommand, GetItemCommand } from "@aws-sdk/client-dynamodb";
import type { Key } from "../../ports/store.ts";
import { type Attributes, distinctKeys, keyAttributes, nameOf, parseKey } from "./attributes.ts";
import { sendUntilDone } from "./leftovers.ts";
import type { TableAccess } from "./table-access.ts";

/** The rows of the keys, in their order; strongly consistent unless `stale`. */
export async function readRows(
  access: TableAccess,
  keys: readonly Key[],
  how?: { stale: true },
): Promise<readonly (Attributes | undefined)[]> {
  const isStrong = how?.stale !== true;
  const rows = await (keys.length > 1 ? readMany : readEach)(access, keys, isStrong);
  access.metering?.got(keys, rows, how);
  return rows;
}

type Rows = Promise<readonly (Attributes | undefined)[]>;

function readEach({ client, table }: TableAccess, keys: readonly Key[], isStrong: boolean): Rows {
  return Promise.all(
    keys.map(async (key) => {
      const request = { TableName: table, Key: keyAttributes(key), ConsistentRead: isStrong };
      return (await client.send(new GetItemCommand(request))).Item;
    }),
  );
}

/** A batch may be answered in part, and never in order. */
async function readMany(access: TableAccess, keys: readonly Key[], isStrong: boolean): Rows {
  const found = new Map<string, Attributes>();
  const isDone = await sendUntilDone(
    distinctKeys(keys).map(keyAttributes),
    async (left) => {
      const answer = await readBatch(access, left, isStrong);
      for (const row of answer.rows) found.set(nameOf(parseKey(row)), row);
      return answer.left;
    },
    access.patience,
  );
  if (!isDone) throw new Error("DynamoDB left keys of a batch unread, again and again");
  return keys.map((key) => found.get(nameOf(key)));
}

async function readBatch(
  { client, table }: TableAccess,
  keys: readonly Attributes[],
  isStrong: boolean,
) {
  const { Responses, UnprocessedKeys } = await client.send(
    new BatchGetItemCommand({
      RequestItems: { [table]: { Keys: [...keys], ConsistentRead: isStrong } },
    }),
  );
  return { rows: Responses?.[table] ?? [], left: UnprocessedKeys?.[table]?.Keys ?? [] };
}
