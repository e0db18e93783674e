import { randomUUID } from "node:crypto";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  type GlobalSecondaryIndex,
} from "@aws-sdk/client-dynamodb";

/** The table that a DynamoDbStore needs. */
export function tableDefinition(name: string): CreateTableCommandInput {
  const keys = ["pk", "sk", "duePk", "dueSk", "listPk", "listSk"];
  return {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: keys.map((key) => ({ AttributeName: key, AttributeType: "S" })),
    KeySchema: keySchema("pk", "sk"),
    GlobalSecondaryIndexes: [
      keysOnly("due", "duePk", "dueSk"),
      keysOnly("listing", "listPk", "listSk"),
    ],
  };
}

/** A new table, and how to remove all of it. */
export async function createTable(client: DynamoDBClient) {
  const name = `t-${randomUUID()}`;
  await client.send(new CreateTableCommand(tableDefinition(name)));
  return {
    name,
    async drop() {
      await client.send(new DeleteTableCommand({ TableName: name }));
    },
  };
}

/** A client of an endpoint on this machine, where any credentials will do. */
export function localClient(
  endpoint: string,
  settings: Pick<DynamoDBClientConfig, "requestHandler"> = {},
): DynamoDBClient {
  return new DynamoDBClient({
    ...settings,
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
  });
}

/** The endpoint that `npm run test:aws` has started for the tests. */
export function endpointFrom(variable: string): string {
  const endpoint = process.env[variable];
  if (endpoint === undefined) {
    throw new Error(`${variable} is not set: run these tests with npm run test:aws.`);
  }
  return endpoint;
}

function keysOnly(name: string, hash: string, sort: string): GlobalSecondaryIndex {
  return {
    IndexName: name,
    KeySchema: keySchema(hash, sort),
    Projection: { ProjectionType: "KEYS_ONLY" },
  };
}

function keySchema(hash: string, sort: string) {
  return [
    { AttributeName: hash, KeyType: "HASH" as const },
    { AttributeName: sort, KeyType: "RANGE" as const },
  ];
}
