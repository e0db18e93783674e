// What every store must do. An adapter's test calls storeContract with a way to open an empty one.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Instant, instantFrom } from "../../lib/definition/time/instant.ts";
import type { Item, Key, Outcome, Page, Range, Store, Write } from "../../lib/ports/store.ts";
import { storeLimits } from "../../lib/ports/store-rules.ts";
import { storeModelTests } from "./store-model.contract.ts";
import type { OpenedStore, StorePromises } from "./store-opening.ts";

/** Declares the suite for one adapter. */
export function storeContract(
  name: string,
  open: () => Promise<OpenedStore>,
  promises: StorePromises = {},
): void {
  describe(name, () => {
    let opened: OpenedStore;
    let store: Store;
    beforeEach(async () => {
      opened = await open();
      store = opened.store;
    });
    afterEach(() => opened.close());

    conditionTests(() => store, promises);
    transactionTests(() => store);
    scanTests(() => store);
    dueTests(() => store);
    listTests(() => store);
    hintTests(() => store);
    refusalTests(() => store);
  });
  storeModelTests(name, open, promises);
}

const committed: Outcome = { kind: "committed" };

function conditionTests(store: () => Store, { inCallOrder }: StorePromises): void {
  describe("a lone write", () => {
    test("puts an item that get returns whole", async () => {
      const item = anItem("a", {
        version: 3,
        body: Uint8Array.of(0, 255, 7),
        lookAt: at(1_700_000_000_123),
        listed: { view: "t#L", order: "9" },
        expiresAt: at(1_800_000_000_456),
      });

      expect(await store().commit([{ put: item, when: "absent" }])).toEqual(committed);

      expect(await found(store(), [key("a"), key("b")])).toEqual([item, undefined]);
    });

    test("replaces every part of the item", async () => {
      const rich = anItem("a", {
        lookAt: at(5),
        listed: { view: "v", order: "1" },
        expiresAt: at(9),
      });
      const plain = anItem("a", { version: 2, body: new Uint8Array(0) });
      await put(store(), rich);

      expect(await store().commit([{ put: plain, when: { version: 1 } }])).toEqual(committed);

      expect(await found(store(), [key("a")])).toEqual([plain]);
      expect((await store().due(at(10), everything)).items).toEqual([]);
      expect((await store().list("v", { limit: 10 })).items).toEqual([]);
    });

    test("put when absent conflicts with the image that is there", async () => {
      const there = anItem("a", { version: 4 });
      await put(store(), there);

      const outcome = await store().commit([{ put: anItem("a"), when: "absent" }]);

      expect(plain(outcome)).toEqual({ kind: "conflict", current: [{ ok: false, item: there }] });
      expect(await found(store(), [key("a")])).toEqual([there]);
    });

    test("put under a version conflicts with any other version", async () => {
      const there = anItem("a", { version: 4 });
      await put(store(), there);

      for (const version of [3, 5]) {
        const outcome = await store().commit([
          { put: anItem("a", { version: 9 }), when: { version } },
        ]);
        expect(plain(outcome)).toEqual({ kind: "conflict", current: [{ ok: false, item: there }] });
      }
    });

    test("put under a version conflicts without an image when there is no item", async () => {
      const outcome = await store().commit([{ put: anItem("a"), when: { version: 1 } }]);

      expect(outcome).toEqual({ kind: "conflict", current: [{ ok: false }] });
    });

    test("compares the stored version, not the one it writes", async () => {
      await put(store(), anItem("a", { version: 7 }));

      const back = anItem("a", { version: 2 });
      expect(await store().commit([{ put: back, when: { version: 7 } }])).toEqual(committed);

      expect(await found(store(), [key("a")])).toEqual([back]);
    });

    test("removes what exists, and conflicts when nothing does", async () => {
      await put(store(), anItem("a"));

      expect(await store().commit([{ remove: key("a"), when: "exists" }])).toEqual(committed);
      expect(await found(store(), [key("a")])).toEqual([undefined]);
      expect(await store().commit([{ remove: key("a"), when: "exists" }])).toEqual({
        kind: "conflict",
        current: [{ ok: false }],
      });
    });

    test("removes under a version only that version", async () => {
      const there = anItem("a", { version: 2 });
      await put(store(), there);

      const outcome = await store().commit([{ remove: key("a"), when: { version: 1 } }]);
      expect(plain(outcome)).toEqual({ kind: "conflict", current: [{ ok: false, item: there }] });

      expect(await store().commit([{ remove: key("a"), when: { version: 2 } }])).toEqual(committed);
      expect(await found(store(), [key("a")])).toEqual([undefined]);
    });

    test("leaves other items alone, in the same partition and beyond", async () => {
      const [neighbour, stranger] = [anItem("b"), { ...anItem("a"), key: { pk: "q", sk: "a" } }];
      await put(store(), anItem("a"), neighbour, stranger);

      await store().commit([{ put: anItem("a", { version: 2 }), when: { version: 1 } }]);
      await store().commit([{ remove: key("a"), when: "exists" }]);

      expect(await found(store(), [neighbour.key, stranger.key])).toEqual([neighbour, stranger]);
    });

    test("is committed by exactly one of many concurrent writers of one version", async () => {
      await put(store(), anItem("a"));
      const rivals = Array.from({ length: 20 }, (_, n) =>
        anItem("a", { version: 2, body: Uint8Array.of(n) }),
      );

      const outcomes = await Promise.all(
        rivals.map((rival) => store().commit([{ put: rival, when: { version: 1 } }])),
      );

      const winners = rivals.filter((_, n) => outcomes[n]?.kind === "committed");
      expect(winners).toHaveLength(1);
      expect(await found(store(), [key("a")])).toEqual(winners);
      const losers = outcomes.filter((outcome) => outcome.kind === "conflict").map(plain);
      for (const loser of losers) {
        expect(loser).toEqual({ kind: "conflict", current: [{ ok: false, item: winners[0] }] });
      }
    });

    // Not a promise of the port: only tested for adapters that make it.
    if (!inCallOrder) return;
    test("directly after another sees its result", async () => {
      const outcomes = await Promise.all([
        store().commit([{ put: anItem("a", { version: 1 }), when: "absent" }]),
        store().commit([{ put: anItem("a", { version: 2 }), when: { version: 1 } }]),
        store().commit([{ put: anItem("b", { version: 1 }), when: { version: 1 } }]),
        store().commit([{ put: anItem("a", { version: 3 }), when: { version: 2 } }]),
      ]);

      expect(outcomes.map((outcome) => outcome.kind)).toEqual([
        "committed",
        "committed",
        "conflict",
        "committed",
      ]);
      expect(await found(store(), [key("a")])).toEqual([anItem("a", { version: 3 })]);
    });
  });
}

function transactionTests(store: () => Store): void {
  describe("a transaction", () => {
    test("does all its writes", async () => {
      await put(store(), anItem("replaced"), anItem("removed"), anItem("expected", { version: 6 }));

      const outcome = await store().commit([
        { put: anItem("replaced", { version: 2 }), when: { version: 1 } },
        { put: anItem("added"), when: "absent" },
        { remove: key("removed"), when: { version: 1 } },
        { expect: key("expected"), when: { version: 6 } },
      ]);

      expect(outcome).toEqual(committed);
      expect(await found(store(), ["replaced", "added", "removed", "expected"].map(key))).toEqual([
        anItem("replaced", { version: 2 }),
        anItem("added"),
        undefined,
        anItem("expected", { version: 6 }),
      ]);
    });

    const failing: readonly [string, Write, Item | undefined][] = [
      [
        "a put that is not absent",
        { put: anItem("x"), when: "absent" },
        anItem("x", { version: 3 }),
      ],
      [
        "a put under a version",
        { put: anItem("x"), when: { version: 2 } },
        anItem("x", { version: 3 }),
      ],
      [
        "a removal under a version",
        { remove: key("x"), when: { version: 2 } },
        anItem("x", { version: 3 }),
      ],
      ["a removal of nothing", { remove: key("x"), when: "exists" }, undefined],
      [
        "an expected version",
        { expect: key("x"), when: { version: 2 } },
        anItem("x", { version: 3 }),
      ],
      ["an expected item", { expect: key("x"), when: { version: 2 } }, undefined],
    ];
    test.each(failing)("does nothing when %s fails", async (_, write, there) => {
      if (there !== undefined) await put(store(), there);
      await put(store(), anItem("b"), anItem("c"));

      const outcome = await store().commit([
        { put: anItem("a"), when: "absent" },
        { remove: key("b"), when: "exists" },
        write,
        { put: anItem("c", { version: 2 }), when: { version: 1 } },
      ]);

      const failed = there === undefined ? { ok: false } : { ok: false, item: there };
      expect(plain(outcome)).toEqual({
        kind: "conflict",
        current: [{ ok: true }, { ok: true }, failed, { ok: true }],
      });
      expect(await found(store(), ["a", "b", "c", "x"].map(key))).toEqual([
        undefined,
        anItem("b"),
        anItem("c"),
        there,
      ]);
    });

    test("brings an image for each failed write, in the order of the writes", async () => {
      await put(store(), anItem("a", { version: 5 }), anItem("c", { version: 8 }));

      const outcome = await store().commit([
        { put: anItem("c"), when: "absent" },
        { put: anItem("b"), when: "absent" },
        { put: anItem("a"), when: { version: 4 } },
      ]);

      expect(plain(outcome)).toEqual({
        kind: "conflict",
        current: [
          { ok: false, item: anItem("c", { version: 8 }) },
          { ok: true },
          { ok: false, item: anItem("a", { version: 5 }) },
        ],
      });
    });

    test("takes as many writes as the limit says", async () => {
      const items = Array.from({ length: storeLimits.writesPerCommit }, (_, n) => anItem(`n${n}`));

      expect(await store().commit(puts(items))).toEqual(committed);

      expect(
        await found(
          store(),
          items.map((item) => item.key),
        ),
      ).toEqual(items);
    });

    test("is committed once per version by many concurrent writers of the same two items", async () => {
      await put(store(), anItem("a"), anItem("b"));

      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          store().commit(
            inOrder(n % 2 === 0, [
              { put: anItem("a", { version: 2 }), when: { version: 1 } },
              { put: anItem("b", { version: 2 }), when: { version: 1 } },
            ]),
          ),
        ),
      );

      expect(outcomes.filter((outcome) => outcome.kind === "committed")).toHaveLength(1);
      expect(await found(store(), [key("a"), key("b")])).toEqual([
        anItem("a", { version: 2 }),
        anItem("b", { version: 2 }),
      ]);
    });
  });
}

/** In the order of their UTF-8 bytes, which is not that of JavaScript: the last two swap there. */
const inByteOrder = ["A", "Z", "a", "aa", "ab", "é", "Ω", "日", "\uffee", "🙂"];

function scanTests(store: () => Store): void {
  describe("a scan", () => {
    beforeEach(() =>
      put(
        store(),
        ...["🙂", "ab", "Ω", "A", "\uffee", "aa", "Z", "日", "a", "é"].map((sk) => anItem(sk)),
        { ...anItem("b"), key: { pk: "p0", sk: "b" } },
      ),
    );

    const scanned = async (range: Range) =>
      (await store().scan("p", range)).items.map((item) => item.key.sk);

    test("gives the items of one partition by the bytes of their keys", async () => {
      expect(await scanned({ limit: 100 })).toEqual(inByteOrder);
      expect(plainPage(await store().scan("p", { limit: 1 })).items).toEqual([anItem("A")]);
    });

    test("backwards gives them from the last to the first", async () => {
      expect(await scanned({ limit: 100, backwards: true })).toEqual(inByteOrder.toReversed());
    });

    test("starts at `from` and ends before `to`, both ways", async () => {
      expect(await scanned({ from: "a", to: "日", limit: 100 })).toEqual([
        "a",
        "aa",
        "ab",
        "é",
        "Ω",
      ]);
      expect(await scanned({ from: "a", to: "aa", limit: 100 })).toEqual(["a"]);
      expect(await scanned({ from: "aaa", limit: 2 })).toEqual(["ab", "é"]);
      expect(await scanned({ to: "Z", limit: 100 })).toEqual(["A"]);
      expect(await scanned({ from: "a", to: "日", limit: 2, backwards: true })).toEqual(["Ω", "é"]);
      expect(await scanned({ from: "b", to: "a", limit: 100 })).toEqual([]);
    });

    test("of an unknown partition is empty", async () => {
      expect(await store().scan("nobody", { limit: 10 })).toEqual({ items: [] });
    });

    test.each([1, 2, 3, 9, 10, 11])(
      "in pages of %i continues after its cursor to the end",
      async (limit) => {
        const scan = (after?: string, backwards?: true) =>
          store().scan("p", { limit, ...(after && { after }), ...(backwards && { backwards }) });

        const forwards = await allPages((after) => scan(after));
        const backwards = await allPages((after) => scan(after, true));

        expect(forwards.map((item) => item.key.sk)).toEqual(inByteOrder);
        expect(backwards.map((item) => item.key.sk)).toEqual(inByteOrder.toReversed());
      },
    );

    test("keeps its position while items before and after it come and go", async () => {
      const first = await store().scan("p", { limit: 3 });
      await store().commit([{ remove: key("a"), when: "exists" }]);
      await store().commit([{ remove: key("é"), when: "exists" }]);
      await put(store(), anItem("A0"), anItem("ab0"));

      const rest = await allPages((after) =>
        store().scan("p", { limit: 3, after: after ?? next(first) }),
      );

      expect(rest.map((item) => item.key.sk)).toEqual([
        "aa",
        "ab",
        "ab0",
        "Ω",
        "日",
        "\uffee",
        "🙂",
      ]);
    });
  });
}

function dueTests(store: () => Store): void {
  describe("due", () => {
    const due = async (until: number) =>
      (await allPages((after) => store().due(at(until), everything, after))).map(({ sk }) => sk);

    test("gives the keys that are due, the earliest first", async () => {
      const hour = 3_600_000;
      await put(
        store(),
        anItem("third", { lookAt: at(9 * hour) }),
        anItem("first", { lookAt: at(0) }),
        anItem("never"),
        anItem("second", { lookAt: at(2 * hour) }),
        anItem("later", { lookAt: at(20 * hour) }),
      );

      expect(await due(9 * hour)).toEqual(["first", "second", "third"]);
      expect(await due(30 * hour)).toEqual(["first", "second", "third", "later"]);
    });

    test("follows an item that moves, is no longer due, or is removed", async () => {
      const hour = 3_600_000;
      await put(store(), anItem("moves", { lookAt: at(0) }), anItem("stops", { lookAt: at(0) }));
      await put(store(), anItem("goes", { lookAt: at(0) }), anItem("begins"));

      await store().commit([
        { put: anItem("moves", { version: 2, lookAt: at(5 * hour) }), when: { version: 1 } },
        { put: anItem("stops", { version: 2 }), when: { version: 1 } },
        { remove: key("goes"), when: "exists" },
        { put: anItem("begins", { version: 2, lookAt: at(hour) }), when: { version: 1 } },
      ]);

      expect(await due(2 * hour)).toEqual(["begins"]);
      expect(await due(6 * hour)).toEqual(["begins", "moves"]);
    });

    test("keeps a key that has not moved, however often it is read", async () => {
      await put(store(), anItem("a", { lookAt: at(5) }));

      expect(await due(5)).toEqual(["a"]);
      expect(await due(5)).toEqual(["a"]);
    });

    test.each([1, 2, 4, 8, 16, 32])("in %i slices gives every key once", async (of) => {
      const keys = Array.from({ length: 80 }, (_, n) => ({ pk: `t#I#${n * 7919}`, sk: "S" }));
      await put(store(), ...keys.map((key, n) => ({ ...anItem("S", { lookAt: at(n) }), key })));

      const parts = await Promise.all(
        Array.from({ length: of }, (_, index) =>
          allPages((after) => store().due(at(100), { index, of }, after)),
        ),
      );

      const found = parts.flat().map(({ pk }) => pk);
      expect(found.toSorted()).toEqual(keys.map(({ pk }) => pk).toSorted());
      expect(parts.filter((part) => part.length > 0).length).toBeGreaterThan(of / 2);
    });

    test("leaves out keys older than the minute where it begins", async () => {
      const hour = 3_600_000;
      await put(
        store(),
        anItem("older", { lookAt: at(2 * hour - 1) }),
        anItem("first", { lookAt: at(2 * hour) }),
        anItem("second", { lookAt: at(3 * hour) }),
        anItem("later", { lookAt: at(9 * hour) }),
      );

      const from = async (begin: number) =>
        (await store().due(at(4 * hour), everything, undefined, at(begin))).items;

      expect(await from(2 * hour)).toEqual([key("first"), key("second")]);
      expect(await from(2 * hour + 60_000)).toEqual([key("second")]);
      expect(await from(3 * hour + 60_000)).toEqual([]);
    });

    test("continues with a cursor of an earlier call of the same kind", async () => {
      const hour = 3_600_000;
      const count = storeLimits.duePerPage + 10;
      const items = Array.from({ length: count }, (_, n) => anItem(`n${n}`, { lookAt: at(hour) }));
      await put(store(), ...items, anItem("old", { lookAt: at(0) }));
      const { items: first, next } = await store().due(at(hour), everything, undefined, at(hour));
      await put(store(), anItem("new", { lookAt: at(3 * hour) }));

      const rest = await allPages((after) =>
        store().due(at(4 * hour), everything, after ?? next, at(hour)),
      );

      const found = [...first, ...rest].map(({ sk }) => sk);
      expect(found.toSorted()).toEqual([...items.map(({ key: { sk } }) => sk), "new"].toSorted());
    });

    test("continues after its cursor, also among keys of one instant", async () => {
      const count = storeLimits.duePerPage + 90;
      const items = Array.from({ length: count }, (_, n) =>
        anItem(`n${n}`, { lookAt: at(n < 40 ? 1 : 60_007) }),
      );
      await put(store(), ...items);

      const keys = await allPages((after) => store().due(at(60_007), everything, after));

      expect(
        keys
          .slice(0, 40)
          .map(({ sk }) => sk)
          .toSorted(),
      ).toEqual(
        items
          .slice(0, 40)
          .map(({ key: { sk } }) => sk)
          .toSorted(),
      );
      expect(new Set(keys.map(({ sk }) => sk)).size).toBe(count);
      expect(keys).toHaveLength(count);
    });
  });
}

function listTests(store: () => Store): void {
  describe("a listing", () => {
    const orders = ["A", "a#1", "a#2", "é", "\uffee", "🙂"];
    beforeEach(() =>
      put(
        store(),
        ...orders
          .toReversed()
          .map((order, n) => anItem(`k${n}`, { listed: { view: "live", order } })),
        anItem("other", { listed: { view: "live2", order: "a" } }),
        anItem("unlisted"),
      ),
    );
    const skOf = (order: string) => `k${orders.length - 1 - orders.indexOf(order)}`;
    const listed = async (range: Range) =>
      (await store().list("live", range)).items.map(({ sk }) => sk);

    test("gives the keys of its view in byte order of their positions, both ways", async () => {
      expect(await listed({ limit: 10 })).toEqual(orders.map(skOf));
      expect(await listed({ limit: 10, backwards: true })).toEqual(orders.toReversed().map(skOf));
      expect((await store().list("nothing", { limit: 10 })).items).toEqual([]);
    });

    test("separates views that differ by a number, within the same range", async () => {
      const range = { from: "02", to: "08", limit: 10, backwards: true } as const;
      const views = ["shard#1", "shard#10", "shard#2"];
      const places = Array.from({ length: 9 }, (_, n) => `0${n}`);
      await put(
        store(),
        ...places.map((order, n) => {
          const view = views[n % views.length] ?? "";
          return anItem(`s${n}`, { listed: { view, order } });
        }),
      );

      const read = views.map(async (view) => (await store().list(view, range)).items);

      expect((await Promise.all(read)).map((items) => items.map(({ order }) => order))).toEqual([
        ["06", "03"],
        ["07", "04"],
        ["05", "02"],
      ]);
    });

    test("returns the position of each key", async () => {
      const { items } = await store().list("live", { limit: 10 });

      expect(items.map(({ order }) => order)).toEqual(orders);
      expect(items[0]).toEqual({ ...key(skOf("A")), order: "A" });
    });

    test("starts at `from` and ends before `to`, both ways", async () => {
      const range = { from: "a#1", to: "\uffee", limit: 10 };
      const within = ["a#1", "a#2", "é"].map(skOf);

      expect(await listed(range)).toEqual(within);
      expect(await listed({ ...range, backwards: true })).toEqual(within.toReversed());
    });

    test.each([1, 2, 5, 6, 7])(
      "in pages of %i continues after its cursor to the end",
      async (limit) => {
        const list = (after?: string, backwards?: true) =>
          store().list("live", { limit, ...(after && { after }), ...(backwards && { backwards }) });

        const forwards = await allPages((after) => list(after));
        const backwards = await allPages((after) => list(after, true));

        expect(forwards.map(({ sk }) => sk)).toEqual(orders.map(skOf));
        expect(backwards.map(({ sk }) => sk)).toEqual(orders.toReversed().map(skOf));
      },
    );

    test("gives each of several items in one position once, whatever the page", async () => {
      const twins = ["x", "y", "z"].map((sk) =>
        anItem(sk, { listed: { view: "twins", order: "o" } }),
      );
      await put(store(), ...twins);

      for (const backwards of [undefined, true] as const) {
        const keys = await allPages((after) =>
          store().list("twins", {
            limit: 1,
            ...(after && { after }),
            ...(backwards && { backwards }),
          }),
        );
        expect(keys.map(({ sk }) => sk).toSorted()).toEqual(["x", "y", "z"]);
      }
    });

    test("follows an item that changes its view or its position, or is removed", async () => {
      const moved = anItem(skOf("A"), { version: 2, listed: { view: "done", order: "1" } });
      const behind = anItem(skOf("a#1"), { version: 2, listed: { view: "live", order: "b" } });
      await store().commit([
        { put: moved, when: { version: 1 } },
        { put: behind, when: { version: 1 } },
        { remove: key(skOf("é")), when: "exists" },
      ]);

      expect(await listed({ limit: 10 })).toEqual([
        skOf("a#2"),
        behind.key.sk,
        skOf("\uffee"),
        skOf("🙂"),
      ]);
      expect((await store().list("done", { limit: 10 })).items).toEqual([
        { ...moved.key, order: "1" },
      ]);
    });
  });
}

function hintTests(store: () => Store): void {
  describe("a hint", () => {
    test("put as newer replaces nothing, an older one, but never an equal or newer one", async () => {
      const hint = (version: number): Write => ({
        put: anItem("h", { version, body: Uint8Array.of(version) }),
        when: "newer",
      });
      const stored = async () => (await store().get([key("h")]))[0]?.version;

      expect(await store().commit([hint(4)])).toEqual(committed);
      expect(await store().commit([{ put: anItem("h", { version: 4 }), when: "newer" }])).toEqual(
        committed,
      );
      expect((await store().get([key("h")]))[0]?.body).toEqual(Uint8Array.of(4));
      expect(await store().commit([hint(3)])).toEqual(committed);
      expect(await stored()).toBe(4);
      expect(await store().commit([hint(9)])).toEqual(committed);
      expect(await stored()).toBe(9);
    });

    test("put as newer moves its index entries with it", async () => {
      await store().commit([{ put: anItem("h", { lookAt: at(0) }), when: "newer" }]);
      await store().commit([
        { put: anItem("h", { version: 2, listed: { view: "v", order: "1" } }), when: "newer" },
      ]);

      expect((await store().due(at(9e9), everything)).items).toEqual([]);
      expect((await store().list("v", { limit: 1 })).items).toEqual([{ ...key("h"), order: "1" }]);
    });

    test("that is tidied is gone after the next commit, whatever its version", async () => {
      await put(store(), anItem("a", { version: 8, lookAt: at(0) }), anItem("b"), anItem("c"));

      await store().tidy([key("a"), key("b"), key("nobody")]);
      await put(store(), anItem("d"));

      expect(await found(store(), ["a", "b", "c", "d"].map(key))).toEqual([
        undefined,
        undefined,
        anItem("c"),
        anItem("d"),
      ]);
      expect((await store().due(at(9e9), everything)).items).toEqual([]);
    });

    test("can be put again after it was tidied", async () => {
      await put(store(), anItem("a"));
      await store().tidy([key("a")]);

      expect(await store().commit([{ put: anItem("a", { version: 2 }), when: "newer" }])).toEqual(
        committed,
      );

      expect(await found(store(), [key("a")])).toEqual([anItem("a", { version: 2 })]);
    });
  });
}

function refusalTests(store: () => Store): void {
  describe("an invalid call", () => {
    const long = (bytes: number) => "k".repeat(bytes);
    const lone = (write: Write): readonly [Write] => [write];
    const refused: readonly [string, readonly [Write, ...Write[]]][] = [
      [
        "more writes than the limit",
        puts(Array.from({ length: storeLimits.writesPerCommit + 1 }, (_, n) => anItem(`n${n}`))),
      ],
      [
        "more bytes than the limit",
        puts([...largest(7), anItem("more", { body: new Uint8Array(200_001) })]),
      ],
      [
        "one item twice",
        [
          { put: anItem("a"), when: "absent" },
          { expect: key("a"), when: { version: 1 } },
        ],
      ],
      [
        "a hint in a transaction",
        [
          { put: anItem("a"), when: "absent" },
          { put: anItem("b"), when: "newer" },
        ],
      ],
      [
        "a body past the limit",
        lone({
          put: anItem("a", { body: new Uint8Array(storeLimits.bodyBytes + 1) }),
          when: "absent",
        }),
      ],
      ["an empty key", lone({ put: anItem(""), when: "absent" })],
      ["half a character", lone({ put: anItem("\ud83d"), when: "absent" })],
      ["a NUL in a key", lone({ put: anItem("a\0b"), when: "absent" })],
      [
        "a key past the limit",
        lone({ put: anItem(long(storeLimits.skBytes + 1)), when: "absent" }),
      ],
      [
        "a version that is no whole number",
        lone({ put: anItem("a", { version: 1.5 }), when: "absent" }),
      ],
    ];
    test.each(refused)("is refused and writes nothing: %s", async (_, writes) => {
      await expect(store().commit(writes)).rejects.toMatchObject({ code: "store/call-refused" });

      expect((await store().scan("p", { limit: 10 })).items).toEqual([]);
    });

    test("is not confused with one at the limit, which is accepted", async () => {
      const item = anItem(long(storeLimits.skBytes), {
        body: new Uint8Array(storeLimits.bodyBytes),
      });
      const rest = anItem("rest", { body: new Uint8Array(200_000) });

      expect(await store().commit([{ put: item, when: "absent" }])).toEqual(committed);
      expect(await store().commit(puts([...largest(7), rest]))).toEqual(committed);
    });

    test("is refused: too many keys, an empty page, an invalid slice, a cursor of another list", async () => {
      const keys = Array.from({ length: storeLimits.keysPerCall + 1 }, (_, n) => key(`n${n}`));
      const misuse = { code: "store/call-refused" };

      await expect(store().get(keys)).rejects.toMatchObject(misuse);
      await expect(store().scan("p", { limit: 0 })).rejects.toMatchObject(misuse);
      await expect(store().list("v", { limit: 1.5 })).rejects.toMatchObject(misuse);
      await expect(store().due(at(0), { index: 0, of: 3 })).rejects.toMatchObject(misuse);
      await expect(store().due(at(0), { index: 2, of: 2 })).rejects.toMatchObject(misuse);
      const invalid = { code: "store/cursor-invalid" };
      await expect(store().due(at(0), everything, "elsewhere")).rejects.toMatchObject(invalid);
      await expect(store().list("v", { limit: 1, after: "[1,2]" })).rejects.toMatchObject(invalid);
    });
  });
}

const everything = { index: 0, of: 1 };

function at(epochMs: number): Instant {
  return instantFrom(epochMs);
}

function key(sk: string): Key {
  return { pk: "p", sk };
}

function anItem(sk: string, parts: Partial<Item> = {}): Item {
  return { key: key(sk), version: 1, body: new Uint8Array(Buffer.from(sk.slice(0, 20))), ...parts };
}

function largest(count: number): Item[] {
  const body = new Uint8Array(storeLimits.bodyBytes);
  return Array.from({ length: count }, (_, n) => anItem(`large${n}`, { body }));
}

function puts(items: readonly Item[]): [Write, ...Write[]] {
  return items.map((item): Write => ({ put: item, when: "absent" })) as [Write, ...Write[]];
}

function inOrder(forwards: boolean, writes: [Write, Write]): [Write, Write] {
  return forwards ? writes : [writes[1], writes[0]];
}

/** All at once, so that a store on disk need not flush for each. */
async function put(store: Store, ...items: Item[]): Promise<void> {
  const outcomes = await Promise.all(
    items.map((item) => store.commit([{ put: item, when: "absent" }])),
  );
  for (const outcome of outcomes) expect(outcome).toEqual(committed);
}

async function found(store: Store, keys: readonly Key[]): Promise<readonly (Item | undefined)[]> {
  return (await store.get(keys)).map((item) => item && plainItem(item));
}

async function allPages<T>(ask: (after?: string) => Promise<Page<T>>): Promise<readonly T[]> {
  const items: T[] = [];
  for (let page = await ask(); ; page = await ask(page.next)) {
    items.push(...page.items);
    if (page.next === undefined) return items;
  }
}

function next(page: Page<unknown>): string {
  if (page.next === undefined) throw new Error("there is no further page");
  return page.next;
}

/** Bytes compare as bytes, whichever kind of array holds them. */
function plainItem(item: Item): Item {
  return { ...item, body: new Uint8Array(item.body) };
}

function plain(outcome: Outcome): Outcome {
  if (outcome.kind !== "conflict") return outcome;
  const current = outcome.current.map((result) =>
    result.ok || result.item === undefined ? result : { ok: false, item: plainItem(result.item) },
  );
  return { kind: "conflict", current: current as typeof outcome.current };
}

function plainPage(page: Page<Item>): Page<Item> {
  return { ...page, items: page.items.map(plainItem) };
}
