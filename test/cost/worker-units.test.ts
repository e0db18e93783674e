import { beforeEach, describe, expect, test } from "vitest";
import { SimulatedStore } from "../../lib/adapters/simulated/store.ts";
import { Ledger } from "../../lib/cost/ledger.ts";
import { meteredStore } from "../../lib/cost/metered-store.ts";
import { unitsOf } from "../support/metered-dynamodb.ts";
import type { PlainWorld } from "../support/plain-world.ts";
import {
  aWorkersWorld,
  type Counted,
  patientWorker,
  quickWorker,
} from "../support/worker-journey.ts";

// What a task for workers costs, by the billing rules: the step that opens or closes it is one read
// and one write, the rest are its rows. test/aws/worker-units.test.ts compares it with what
// DynamoDB reports. A number that grows is money: change it on purpose only.
describe("a task that a worker runs is charged for", () => {
  let world: PlainWorld;
  let ledger: Ledger;
  let counted: number;
  const lap = () => {
    const { "read table": R = 0, "write table": W = 0 } = unitsOf(
      ledger.spent.slice(counted).map(({ usage }) => usage),
    );
    counted = ledger.spent.length;
    return { R, W };
  };
  beforeEach(async () => {
    ledger = new Ledger();
    world = await aWorkersWorld(meteredStore(new SimulatedStore(), ledger));
    lap();
  });

  test("four writes and two reads of rows besides its steps, and two reads per poll", async () => {
    expect(await told(patientWorker(world, lap))).toEqual({
      "a step that opens a task, and its row": { R: 1, W: 1 + 1 },
      "a poll that finds it": { R: 2 + 1, W: 2 },
      "a heartbeat": { R: 2, W: 2 },
      "its completion, which opens the next one": { R: 1 + 1, W: 1 + 1 + 1 },
      "the parked copy of that call": { R: 1 + 1, W: 0 },
      "a poll that finds nothing": { R: 2, W: 0 },
      "a completion after which it goes on here": { R: 1 + 1 + 1, W: 1 + 1 },
      "the completion of one that was in a queue": { R: 1, W: 1 },
    });
  });

  test("two more writes when a worker is faster than the copy of the call that opened it", async () => {
    expect(await told(quickWorker(world, lap))).toEqual({
      "the parked copy, which offers it again": { R: 1 + 1, W: 1 },
      "a completion that finds the second row": { R: 1 + 1 + 1, W: 1 + 2 },
      "a poll that finds nothing": { R: 2, W: 0 },
    });
  });
});

async function told<U>(counts: AsyncIterable<Counted<U>>): Promise<Record<string, U>> {
  const all: Record<string, U> = {};
  for await (const { what, units } of counts) all[what] = units;
  return all;
}
