import { describe, expect, test } from "vitest";
import { SimulatedStore } from "../../../lib/adapters/simulated/store.ts";
import { eachPage, scanAll } from "../../../lib/engine/storage/items.ts";

const body = new Uint8Array();

async function aStoreOf(count: number) {
  const store = new SimulatedStore({});
  for (let n = 0; n < count; n++) {
    const key = { pk: "p", sk: String(n).padStart(3, "0") };
    await store.commit([{ put: { key, version: 1, body }, when: "absent" }]);
  }
  return store;
}

describe("scanning all of a range", () => {
  test("reads across page boundaries, in order", async () => {
    const store = await aStoreOf(25);

    const found: string[] = [];
    for await (const { key } of scanAll(store, "p", { limit: 10 })) found.push(key.sk);

    expect(found).toEqual(Array.from({ length: 25 }, (_, n) => String(n).padStart(3, "0")));
  });

  test("finds nothing in an empty partition", async () => {
    const store = await aStoreOf(0);

    const { done } = await scanAll(store, "p", { limit: 10 }).next();

    expect(done).toBe(true);
  });

  test("reads no further page than the caller asks for", async () => {
    let reads = 0;
    const pages = eachPage(async () => {
      reads += 1;
      return { items: [reads], next: "more" };
    });

    for await (const [n] of pages) if (n === 2) break;

    expect(reads).toBe(2);
  });
});
