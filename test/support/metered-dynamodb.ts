import type { ConsumedCapacity } from "@aws-sdk/client-dynamodb";
import { DynamoDbStore } from "../../lib/adapters/dynamodb/store.ts";
import type { Usage } from "../../lib/ports/meter.ts";
import { createTable, endpointFrom, localClient } from "./dynamodb-table.ts";

/** A store on DynamoDB Local, what it reports to its meter and what the service reports. */
export async function openMetered() {
  const client = localClient(endpointFrom("FERMATA_TEST_DYNAMODB_ENDPOINT"));
  const { name, drop } = await createTable(client);
  const usages: Usage[] = [];
  const answers: [kind: string, ConsumedCapacity][] = [];
  client.middlewareStack.add(
    (proceed, context) => async (args) => {
      const input = { ...args.input, ReturnConsumedCapacity: "INDEXES" };
      const result = await proceed({ ...args, input });
      const isRead = /^(Get|BatchGet|Query)/.test(context.commandName ?? "");
      for (const each of capacityOf(result.output)) answers.push([isRead ? "read" : "write", each]);
      return result;
    },
    { step: "initialize" },
  );
  const store = new DynamoDbStore({ client, table: name, meter: (usage) => usages.push(usage) });
  return {
    store,
    drop,
    told: () => unitsOf(usages),
    reported: () => summed(answers.flatMap(reportedOf)),
    forget() {
      usages.length = 0;
      answers.length = 0;
    },
  };
}

/** One for each table, in a list if the request could have named several. */
function capacityOf(output: object): readonly ConsumedCapacity[] {
  const said = "ConsumedCapacity" in output ? output.ConsumedCapacity : [];
  return [said ?? []].flat() as ConsumedCapacity[];
}

type Amount = readonly [of: string, units: number];

/** The units of a table and its indexes, as `read table` and `write listing`. */
export function unitsOf(usages: readonly Usage[]): Record<string, number> {
  return summed(usages.flatMap(toldOf));
}

function toldOf(usage: Usage): readonly Amount[] {
  if (usage.of !== "dynamodb-read" && usage.of !== "dynamodb-write") return [];
  return [[`${usage.of.replace("dynamodb-", "")} ${usage.on}`, usage.units]];
}

function reportedOf([kind, capacity]: [string, ConsumedCapacity]): readonly Amount[] {
  const indexes = Object.entries(capacity.GlobalSecondaryIndexes ?? {});
  return [
    [`${kind} table`, capacity.Table?.CapacityUnits ?? 0],
    ...indexes.map(([name, { CapacityUnits }]): Amount => [`${kind} ${name}`, CapacityUnits ?? 0]),
  ];
}

function summed(amounts: readonly Amount[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [of, units] of amounts) if (units > 0) sums[of] = (sums[of] ?? 0) + units;
  return sums;
}
