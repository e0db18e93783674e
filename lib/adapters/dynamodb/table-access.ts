import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Patience } from "./leftovers.ts";
import type { Metering } from "./metering.ts";

/** What every request needs: the client, the table, and the metering. */
export type TableAccess = Readonly<{
  client: DynamoDBClient;
  table: string;
  metering: Metering | undefined;
  patience: Patience;
}>;
