import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { toAttributes } from "../../../lib/adapters/dynamodb/attributes.ts";
import { sizeOf, writeUnits } from "../../../lib/adapters/dynamodb/units.ts";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import type { Variables } from "../../../lib/definition/json.ts";
import { billedBesides } from "../../../lib/engine/storage/externalized.ts";
import type { Item } from "../../../lib/ports/store.ts";
import { end, extensions, file, flow, job, process, start, xml } from "../../support/bpmn-xml.ts";
import { aPlainWorld } from "../../support/plain-world.ts";

const UNIT_BYTES = 1_024;

const chainOf = (length: number) => {
  const ids = Array.from({ length }, (_, n) => `Activity_0x1abc${n}`);
  return file(
    process(
      start(),
      ...ids.map((id) => xml("serviceTask", { id }, extensions(job("step")))),
      end(),
      ...["start", ...ids].map((id, n) => flow(`Flow_0y2def${n}`, id, ids[n] ?? "end")),
    ),
  );
};

type Write = Readonly<{ before: Item | undefined; after: Item }>;
type Tasks = Readonly<Record<string, (input: Variables) => Variables>>;

/** A world that records every put for an instance; each task takes 1.2 seconds, ids are UUIDs. */
async function aMeasuredWorld(source: string, tasks: Tasks) {
  const store = new SimulatedStore({});
  const commit = store.commit.bind(store);
  const writes: Write[] = [];
  store.commit = async (all) => {
    for (const write of all) {
      if (!("put" in write) || !write.put.key.pk.includes("#I#")) continue;
      const [before] = await store.get([write.put.key]);
      writes.push({ before, after: write.put });
    }
    return commit(all);
  };
  const slowly = (run: Tasks[string]) => (input: Variables) => {
    world.moveTo(world.now() + 1_234);
    return run(input);
  };
  const world = aPlainWorld({
    store,
    tasks: Object.fromEntries(Object.entries(tasks).map(([type, run]) => [type, slowly(run)])),
    invocationId: () => crypto.randomUUID(),
  });
  await world.engine.deploy({ notation: "bpmn", source });
  /** Bytes of each instance as it was put, the way DynamoDB counts them. */
  const billed = () =>
    writes.filter(({ after }) => after.key.sk === "S").map(({ after }) => bytesOf(after));
  return { ...world, writes, billed };
}

async function aMeasuredChain(length: number) {
  const world = await aMeasuredWorld(chainOf(length), { step: ({ n }) => ({ n: Number(n) + 1 }) });
  const variables = { n: 0, orderId: "A-1001", customer: "ada@example.com", total: 42.5 };
  const { instanceId } = await world.engine.start("p", { variables });
  await world.drain();
  return { ...world, instanceId };
}

const bytesOf = (item: Item): number => sizeOf(toAttributes(item));

const unitsOf = ({ before, after }: Write): number =>
  writeUnits({ before: before && toAttributes(before), after: toAttributes(after) }).table;

describe("a stored instance", () => {
  test("of ten tasks is billed as one unit at each step, keys, indexes and history included", async () => {
    const { billed, writes } = await aMeasuredChain(10);

    expect(billed()).toHaveLength(11);
    expect(Math.max(...billed())).toBeLessThanOrEqual(UNIT_BYTES);
    expect(writes.map(unitsOf)).toEqual(billed().map(() => 1));
  });

  test("of ten tasks leaves a third of its unit to the variables", async () => {
    const { billed } = await aMeasuredChain(10);

    expect(Math.max(...billed())).toBeLessThanOrEqual((UNIT_BYTES * 2) / 3);
  });

  test("of two hundred tasks takes at most 1.1 units a step, history included", async () => {
    const { writes, billed } = await aMeasuredChain(200);

    const units = writes.reduce((sum, write) => sum + unitsOf(write), 0);
    expect(billed()).toHaveLength(201);
    expect(units / billed().length).toBeLessThanOrEqual(1.1);
  });

  test("has a complete history, however much of it was moved out", async () => {
    const { engine, instanceId } = await aMeasuredChain(200);
    const history: number[] = [];
    let cursor: string | undefined;
    do {
      const page = { limit: 200, ...(cursor !== undefined && { cursor }) };
      const { items, nextCursor } = await engine.history(instanceId, page);
      history.push(...items.map(({ seq }) => seq));
      cursor = nextCursor;
    } while (cursor !== undefined);

    expect(history).toEqual(history.map((_, position) => position + 1));
    expect(history.length).toBeGreaterThan(800);
  });

  test("counts no less than DynamoDB does, and little more", async () => {
    const { writes } = await aMeasuredChain(200);

    const over = writes.map(
      ({ after }) => billedBesides(after) + after.body.length - bytesOf(after),
    );

    expect(Math.min(...over)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...over)).toBeLessThan(32);
  });
});

describe("an example is billed as one unit at each step", () => {
  const sourceOf = (name: string) => readFileSync(`examples/${name}/${name}.bpmn`, "utf8");
  const key = (what: string) => `${what}-0c2f6f0e-5e0f-4d28-9a55-1d5e1b7d0a11:k12.1`;

  test("order", async () => {
    const world = await aMeasuredWorld(sourceOf("order"), {
      "reserve-stock": () => ({ reservation: key("reservation"), reserved: 2 }),
      "charge-card": () => ({ charge: key("charge") }),
      pack: () => ({ parcel: key("parcel") }),
      "send-invoice": () => ({ invoice: { number: key("invoice"), amount: 42 } }),
    });

    const variables = { total: 42, items: [{ sku: "mug", quantity: 2 }] };
    const { instanceId } = await world.engine.start("order", { variables });
    await world.drain();
    for (let timer = world.armed.shift(); timer; timer = world.armed.shift()) {
      world.moveTo(Math.max(timer.dueAt, world.now()));
      world.queued.push({ kind: "timer", tenant: "default", instanceId, ticket: timer.ticket });
      await world.drain();
    }

    expect((await world.engine.result(instanceId)).status).toBe("succeeded");
    expect(Math.max(...world.billed())).toBeLessThanOrEqual(UNIT_BYTES);
  });

  test("payment", async () => {
    const world = await aMeasuredWorld(sourceOf("payment"), {
      "create-bill": () => ({ bill: { orderId: 1001, number: key("bill") } }),
      "release-goods": () => ({ parcel: "parcel-of-1001" }),
    });

    const { instanceId } = await world.engine.start("payment", { variables: { orderId: 1001 } });
    await world.drain();
    const confirmation = { name: "payment-confirmed", correlationKey: "1001" };
    await world.engine.message({ ...confirmation, payload: { amount: 99 } });
    await world.drain();

    expect((await world.engine.result(instanceId)).status).toBe("succeeded");
    expect(Math.max(...world.billed())).toBeLessThanOrEqual(UNIT_BYTES);
  });

  test("approval", async () => {
    const world = await aMeasuredWorld(sourceOf("approval"), {
      "send-reminder": ({ reminders }) => ({ reminders: Number(reminders ?? 0) + 1 }),
      "tell-requester": () => ({ told: "Ada, your request for a desk was approved by Grace." }),
    });

    const variables = { requester: "Ada", what: "a desk" };
    await world.engine.start("approval", { variables });
    await world.drain();

    expect(world.billed().length).toBeGreaterThan(0);
    expect(Math.max(...world.billed())).toBeLessThanOrEqual(UNIT_BYTES);
  });
});
