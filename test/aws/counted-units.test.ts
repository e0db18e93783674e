import { afterAll, describe, expect, test } from "vitest";
import { countUnits } from "../../functions/counted-units.ts";
import { DynamoDbStore } from "../../lib/adapters/dynamodb/store.ts";
import { createTable, endpointFrom, localClient } from "../support/dynamodb-table.ts";
import { HeardTelemetry } from "../support/queue-events.ts";

const plain = localClient(endpointFrom("FERMATA_TEST_DYNAMODB_ENDPOINT"));
const table = await createTable(plain);
afterAll(async () => {
  await table.drop();
  plain.destroy();
});

describe("the units of a function's table", () => {
  test("are measured with each response, reads and writes separately", async () => {
    const { store, telemetry } = aCounted();
    const [small, large] = [item("a", "1", 2_500), item("a", "2", 4_500)];

    await store.commit([{ put: small, when: "absent" }]);
    await store.commit([{ put: large, when: "absent" }]);
    await store.get([small.key]);
    await store.get([small.key, large.key]);
    await store.scan("a", { limit: 10 });
    await store.tidy([small.key]);

    expect(telemetry.measured).toEqual({ WriteUnits: [3, 5, 3], ReadUnits: [1, 3, 2] });
  });

  test("of a transaction are both halves", async () => {
    const { store, telemetry } = aCounted();

    await store.commit([
      { put: item("b", "1", 100), when: "absent" },
      { put: item("b", "2", 1_500), when: "absent" },
    ]);

    expect(telemetry.measured).toEqual({ WriteUnits: [6] });
  });
});

const item = (pk: string, sk: string, bytes: number) => ({
  key: { pk, sk },
  version: 1,
  body: new Uint8Array(bytes),
});

/** A store as functions use it. */
function aCounted() {
  const telemetry = new HeardTelemetry();
  const client = countUnits(localClient(endpointFrom("FERMATA_TEST_DYNAMODB_ENDPOINT")), telemetry);
  return { store: new DynamoDbStore({ client, table: table.name }), telemetry };
}
