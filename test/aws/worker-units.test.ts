import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SimulatedStore } from "../../lib/adapters/simulated/store.ts";
import { Ledger } from "../../lib/cost/ledger.ts";
import { meteredStore } from "../../lib/cost/metered-store.ts";
import { openMetered, unitsOf } from "../support/metered-dynamodb.ts";
import { aWorkersWorld, patientWorker, quickWorker } from "../support/worker-journey.ts";

/** Queries of a poll that find nothing: a read each by the rules of the bill, none on DynamoDB Local. */
const EMPTY_QUERIES: Readonly<Record<string, number>> = {
  "a poll that finds it": 1,
  "a poll that finds nothing": 2,
};

describe("the cost of a task that a worker runs", () => {
  let table: Awaited<ReturnType<typeof openMetered>>;
  beforeEach(async () => {
    table = await openMetered();
  });
  afterEach(() => table.drop());

  test.each([
    ["when its worker comes later", patientWorker<Lap>],
    ["when its worker is quick", quickWorker<Lap>],
  ] as const)("is what DynamoDB reports as consumed, call by call, %s", async (_, journey) => {
    const ledger = new Ledger();
    const inMemory = await aWorkersWorld(meteredStore(new SimulatedStore(), ledger));
    const onTable = await aWorkersWorld(table.store);
    let counted = ledger.spent.length;
    table.forget();

    const counts: Lap[] = [];
    for await (const { units } of journey(inMemory, () => {
      const units = unitsOf(ledger.spent.slice(counted).map(({ usage }) => usage));
      counted = ledger.spent.length;
      return { told: units };
    })) {
      counts.push(units);
    }
    for await (const { what, units } of journey(onTable, () => {
      const units = { told: table.told(), reported: table.reported() };
      table.forget();
      return units;
    })) {
      const [inMemory] = counts.splice(0, 1);
      expect([what, units.told]).toEqual([what, inMemory?.told]);
      expect([what, units.reported]).toEqual([what, without(units.told, EMPTY_QUERIES[what] ?? 0)]);
    }
    expect(counts).toEqual([]);
  });
});

type Units = Readonly<Record<string, number>>;
type Lap = Readonly<{ told: Units; reported?: Units }>;

function without({ "read table": reads = 0, ...others }: Units, emptyQueries: number): Units {
  const left = reads - emptyQueries;
  return { ...others, ...(left > 0 && { "read table": left }) };
}
