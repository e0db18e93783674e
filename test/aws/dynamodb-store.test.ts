import { DynamoDbStore } from "../../lib/adapters/dynamodb/store.ts";
import { storeContract } from "../contract/store.contract.ts";
import { createTable, endpointFrom, localClient } from "../support/dynamodb-table.ts";

storeContract("a DynamoDB store on DynamoDB Local", opened("FERMATA_TEST_DYNAMODB_ENDPOINT"));
storeContract("a DynamoDB store on the emulator", opened("AWS_ENDPOINT_URL"));

/** A table for each: making one takes a few milliseconds. */
function opened(variable: string) {
  const client = localClient(endpointFrom(variable));
  return async () => {
    const { name, drop } = await createTable(client);
    return { store: new DynamoDbStore({ client, table: name }), close: drop };
  };
}
