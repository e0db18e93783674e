import {
  DeleteItemCommand,
  PutItemCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import type { Key, Write } from "../../ports/store.ts";
import { keyOf } from "../../ports/store-rules.ts";
import { keyAttributes, toAttributes } from "./attributes.ts";
import { conditionOf } from "./conditions.ts";
import type { TableAccess } from "./table-access.ts";

/** Applies all writes or none; throws what the client throws. A single write costs half. */
export async function writeRows(
  access: TableAccess,
  writes: readonly [Write, ...Write[]],
): Promise<void> {
  const [write] = writes;
  // Only a transaction can check a row without writing one.
  if (writes.length === 1 && !("expect" in write)) await writeAlone(access, write);
  else await writeTogether(access, writes);
}

async function writeAlone(access: TableAccess, write: Exclude<Write, { expect: Key }>) {
  const { client, table, metering } = access;
  const request = {
    TableName: table,
    ...conditionOf(write),
    ...(metering && { ReturnValues: "ALL_OLD" as const }),
  };
  const answer =
    "put" in write
      ? await client.send(new PutItemCommand({ ...request, Item: toAttributes(write.put) }))
      : await client.send(new DeleteItemCommand({ ...request, Key: keyAttributes(write.remove) }));
  metering?.wrote(write, answer.Attributes);
}

async function writeTogether({ client, table, metering }: TableAccess, writes: readonly Write[]) {
  const TransactItems = writes.map((write) => actionOf(table, write));
  await client.send(new TransactWriteItemsCommand({ TransactItems }));
  metering?.wroteTogether(writes);
}

function actionOf(table: string, write: Write): TransactWriteItem {
  const request = { TableName: table, ...conditionOf(write) };
  if ("put" in write) return { Put: { ...request, Item: toAttributes(write.put) } };
  const named = { ...request, Key: keyAttributes(keyOf(write)) };
  return "remove" in write ? { Delete: named } : { ConditionCheck: named };
}
