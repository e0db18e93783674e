import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Patience } from "./leftovers.ts";
import type { Metering } from "./metering.ts";

/** What every request needs: whom to ask, of which table, and who counts what it costs. */
export type TableAccess = Readonly<{
  client: DynamoDBClient;
  table: string;
  metering: Metering | undefined;
  patience: Patience;
}>;
