import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../lib/adapters/simulated/store.ts";
import type { Item } from "../../lib/ports/store.ts";
import { end, extensions, file, flow, job, process, start, xml } from "../support/bpmn-xml.ts";
import { aPlainWorld } from "../support/plain-world.ts";

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

/** Runs a chain and gives every instance item that was put, in order. */
async function putsOf(length: number): Promise<{ puts: Item[]; history: number[] }> {
  const store = new SimulatedStore({});
  const commit = store.commit.bind(store);
  const puts: Item[] = [];
  store.commit = (writes) => {
    for (const write of writes) {
      if ("put" in write && write.put.key.sk === "S") puts.push(write.put);
    }
    return commit(writes);
  };
  const world = aPlainWorld({ store, tasks: { step: ({ n }) => ({ n: Number(n) + 1 }) } });
  await world.engine.deploy({ notation: "bpmn", source: chainOf(length) });
  const { instanceId } = await world.engine.start("p", {
    variables: { n: 0, orderId: "A-1001", customer: "ada@example.com", total: 42.5 },
  });
  await world.drain();
  const history: number[] = [];
  let cursor: string | undefined;
  do {
    const page = { limit: 200, ...(cursor !== undefined && { cursor }) };
    const { items, nextCursor } = await world.engine.history(instanceId, page);
    history.push(...items.map(({ seq }) => seq));
    cursor = nextCursor;
  } while (cursor !== undefined);
  return { puts, history };
}

describe("a stored instance", () => {
  test("of ten tasks stays under 1 KB at each step, its newest history included", async () => {
    const { puts } = await putsOf(10);

    expect(puts.map(({ version }) => version)).toEqual(Array.from({ length: 11 }, (_, n) => n + 1));
    expect(Math.max(...puts.map(({ body }) => body.length))).toBeLessThan(1_024);
  });

  test("of two hundred tasks stays under 2 KB, and its history is whole", async () => {
    const { puts, history } = await putsOf(200);

    // What grows with the definition is the list of completed elements, nothing else.
    expect(Math.max(...puts.map(({ body }) => body.length))).toBeLessThan(2_048);
    expect(history).toEqual(history.map((_, position) => position + 1));
    expect(history.length).toBeGreaterThan(800);
  });
});
