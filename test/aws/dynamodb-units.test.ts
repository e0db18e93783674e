import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { toAttributes } from "../../lib/adapters/dynamodb/attributes.ts";
import { sizeOf } from "../../lib/adapters/dynamodb/units.ts";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import type { Item, Write } from "../../lib/ports/store.ts";
import { openMetered } from "../support/metered-dynamodb.ts";

describe("what a store reports to its meter", () => {
  let opened: Awaited<ReturnType<typeof openMetered>>;
  beforeEach(async () => {
    opened = await openMetered();
  });
  afterEach(() => opened.drop());

  const indexed = { lookAt: at(5e12), listed: { view: "t#L", order: "1" } };
  const moved = { lookAt: at(6e12), listed: { view: "t#L", order: "2" } };
  const cases: readonly [string, readonly Item[], readonly [Write, ...Write[]]][] = [
    ["a new item", [], [put(anItem("a"), "absent")]],
    ["a hint", [], [put(anItem("a"), "newer")]],
    ["an item of 3 KB", [], [put(anItem("a", { body: bytes(2_900) }), "absent")]],
    ["an item that grows", [anItem("a")], [next("a", { body: bytes(2_900) })]],
    ["an item that shrinks", [anItem("a", { body: bytes(2_900) })], [next("a")]],
    ["an item that enters both indexes", [anItem("a")], [next("a", indexed)]],
    ["an item that stays where it is", [anItem("a", indexed)], [next("a", indexed)]],
    ["an item that moves in both indexes", [anItem("a", indexed)], [next("a", moved)]],
    ["an item that leaves both indexes", [anItem("a", indexed)], [next("a")]],
    ["a removal", [anItem("a", { body: bytes(2_900), ...indexed })], [remove("a")]],
    // Of writes in a transaction that cost the same DynamoDB Local counts one: these all differ.
    [
      "a transaction",
      [
        anItem("a", { body: bytes(1_500), ...indexed }),
        anItem("b", indexed),
        anItem("c", { body: bytes(2_900), ...indexed }),
      ],
      [
        next("a", { lookAt: at(6e12) }),
        next("b", moved),
        remove("c"),
        put(anItem("d", indexed), "absent"),
      ],
    ],
    [
      "a transaction that looks at an item",
      [anItem("a"), anItem("b")],
      [{ expect: anItem("a").key, when: { version: 1 } }, next("b", { body: bytes(2_900) })],
    ],
    ["a look at one item", [anItem("a")], [{ expect: anItem("a").key, when: { version: 1 } }]],
  ];
  test.each(cases)("of %s is what DynamoDB bills", async (_, before, writes) => {
    const { store, told, reported } = opened;
    for (const item of before) await store.commit([put(item, "absent")]);
    opened.forget();

    await store.commit(writes);

    expect(told()).toEqual(reported());
    expect(told()["write table"]).toBeGreaterThan(0);
  });

  test("of reads is what DynamoDB bills", async () => {
    const { store, told, reported } = opened;
    const items = [anItem("a", indexed), anItem("b", { body: bytes(9_000) }), anItem("c", indexed)];
    for (const item of items) await store.commit([put(item, "absent")]);
    const keys = items.map(({ key }) => key);
    opened.forget();

    for (const key of [...keys, anItem("nobody").key]) {
      await store.get([key]);
      await store.get([key], { stale: true });
    }
    await store.get(keys);
    await store.scan("p", { limit: 10 });
    await store.list("t#L", { limit: 10 });

    expect(told()).toEqual(reported());
    expect(told()).toEqual({ "read table": 1 + 3 + 1 + 1 + 3 + 5 + 3, "read listing": 0.5 });
  });

  test.each([1, 2, 7])("changes at %i KB exactly where DynamoDB does", async (kilobytes) => {
    const { store, told, reported } = opened;
    const rich = {
      version: 1_234_500,
      lookAt: at(1_700_000_000_123),
      listed: { view: "t#L#live#é", order: "🙂" },
      expiresAt: at(-7),
    };
    const rest = sizeOf(toAttributes(anItem("a", { ...rich, body: bytes(0) })));
    const fitting = anItem("a", { ...rich, body: bytes(kilobytes * 1_024 - rest) });
    const larger = anItem("b", { ...rich, body: bytes(kilobytes * 1_024 - rest + 1) });

    await store.commit([put(fitting, "absent")]);
    expect(reported()["write table"]).toBe(kilobytes);
    expect(told()).toEqual(reported());

    opened.forget();
    await store.commit([put(larger, "absent")]);
    expect(reported()["write table"]).toBe(kilobytes + 1);
    expect(told()).toEqual(reported());
  });
});

function at(epochMs: number) {
  return instantFrom(epochMs);
}

function bytes(count: number): Uint8Array {
  return new Uint8Array(count);
}

function anItem(sk: string, parts: Partial<Item> = {}): Item {
  return { key: { pk: "p", sk }, version: 1, body: bytes(10), ...parts };
}

function put(item: Item, when: "absent" | "newer"): Write {
  return { put: item, when };
}

function next(sk: string, parts: Partial<Item> = {}): Write {
  return { put: anItem(sk, { ...parts, version: 2 }), when: { version: 1 } };
}

function remove(sk: string): Write {
  return { remove: anItem(sk).key, when: "exists" };
}
