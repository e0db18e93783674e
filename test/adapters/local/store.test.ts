import { describe, expect, test } from "vitest";
import {
  ANSWERS_WITH_HELPER,
  MAX_GROUP_WRITES,
  MAX_WAITING_HINTS,
} from "../../../lib/adapters/local/store.ts";
import { type Instant, instantFrom } from "../../../lib/definition/time/instant.ts";
import { EngineError } from "../../../lib/ports/engine-error.ts";
import type { Item, Key, Store, Write } from "../../../lib/ports/store.ts";
import { openedIn, temporaryFolder } from "./temporary-store.ts";

describe("the local store", () => {
  test("has everything it acknowledged after it is closed and opened again", async () => {
    const folder = temporaryFolder();
    const store = openedIn(folder);
    await store.commit([{ put: anItem("a", { lookAt: at(5), expiresAt: at(9) }), when: "absent" }]);
    await store.close();

    const again = openedIn(folder);

    expect(await versionsIn(again, "a")).toEqual([1]);
    expect((await again.due(at(5), everything)).items).toEqual([key("a")]);
  });

  test("makes writes from before closing durable, and refuses later ones", async () => {
    const folder = temporaryFolder();
    const store = openedIn(folder);
    const asked = store.commit([{ put: anItem("a"), when: "absent" }]);
    await store.tidy([key("b")]);

    await store.close();
    await store.close();

    expect(await asked).toEqual({ kind: "committed" });
    await expect(store.get([key("a")])).rejects.toMatchObject({ code: "store/closed" });
    await expect(store.commit([{ put: anItem("b"), when: "absent" }])).rejects.toMatchObject({
      code: "store/closed",
    });
    expect(await versionsIn(openedIn(folder), "a")).toEqual([1]);
  });

  test.each([
    [false, ANSWERS_WITH_HELPER + 1],
    [true, ANSWERS_WITH_HELPER],
  ])(
    "answers in portions while another thread works for its callers: %j",
    async (isAtWork, first) => {
      const store = openedIn(temporaryFolder(), {
        helper: { isInUse: isAtWork, deliver: () => false },
      });
      let answered = 0;
      const seen: number[] = [];
      const commit = async (n: number) => {
        await store.commit([{ put: anItem(`i${n}`), when: "absent" }]);
        answered += 1;
        for (let hops = 0; hops < 5; hops++) await null;
        seen.push(answered);
      };

      await Promise.all(Array.from({ length: ANSWERS_WITH_HELPER + 1 }, (_, n) => commit(n)));

      expect([seen.at(0), seen.at(-1)]).toEqual([first, ANSWERS_WITH_HELPER + 1]);
    },
  );

  test("flushes what its helper has finished by then together with the rest", async () => {
    let left = 3;
    const answers: string[] = [];
    const deliver = (): boolean => {
      if (left-- <= 0) return false;
      void store
        .commit([{ put: anItem(`late${left}`), when: "absent" }])
        .then(() => answers.push("late"));
      return true;
    };
    const store = openedIn(temporaryFolder(), { helper: { isInUse: true, deliver } });

    await store.commit([{ put: anItem("first"), when: "absent" }]);
    for (let hops = 0; hops < 10; hops++) await null;

    // No turn of the event loop has passed, so there was no second flush.
    expect(answers).toHaveLength(3);
  });

  test("does not hold a flush back for a helper that never comes to an end", async () => {
    let delivered = 0;
    const deliver = (): boolean => {
      if (delivered >= 50) return false;
      delivered += 1;
      void store.commit([{ put: anItem(`late${delivered}`), when: "absent" }]);
      return true;
    };
    const store = openedIn(temporaryFolder(), { helper: { isInUse: true, deliver } });

    await store.commit([{ put: anItem("first"), when: "absent" }]);

    expect(delivered).toBeLessThan(50);
    await store.close();
  });

  test("answers every portion when it is closed meanwhile", async () => {
    const store = openedIn(temporaryFolder(), { helper: { isInUse: true, deliver: () => false } });
    const asked = Array.from({ length: 3 * ANSWERS_WITH_HELPER }, (_, n) =>
      store.commit([{ put: anItem(`i${n}`), when: "absent" }]),
    );

    await store.close();

    expect(new Set((await Promise.all(asked)).map(({ kind }) => kind))).toEqual(
      new Set(["committed"]),
    );
  });

  test("counts the items that calls read and write", async () => {
    const store = openedIn(temporaryFolder());
    await putAll(store, [anItem("a", { lookAt: at(1) }), anItem("b", { lookAt: at(2) })]);
    expect([store.reads, store.writes]).toEqual([0, 2]);

    await store.get([key("a"), key("nobody")]);
    expect(store.reads).toBe(2);
    await store.scan("p", { limit: 10 });
    expect(store.reads).toBe(4);
    expect(store.keysRead).toBe(0);
    await store.due(at(1), everything);
    await store.list("nothing", { limit: 10 });
    expect([store.reads, store.keysRead, store.writes]).toEqual([4, 1, 2]);
  });

  test("counts rows that are only a key with their index keys", async () => {
    const store = openedIn(temporaryFolder());
    await putAll(store, [anItem("a"), anItem("b", { body: new Uint8Array() })]);

    await store.scan("p", { limit: 10 });

    expect([store.reads, store.keysRead]).toEqual([1, 1]);
  });
});

describe("a group of commits", () => {
  test("lets a read directly after a write see what was made durable", async () => {
    const store = openedIn(temporaryFolder());
    const order: string[] = [];

    const [, items, others] = await Promise.all([
      store.commit([{ put: anItem("a"), when: "absent" }]).then(() => order.push("written")),
      store.get([key("a")]).finally(() => order.push("read behind")),
      store.get([key("b")]).finally(() => order.push("read elsewhere")),
    ]);

    expect(items[0]?.version).toBe(1);
    expect(others).toEqual([undefined]);
    expect(order).toEqual(["read elsewhere", "written", "read behind"]);
  });

  test("is invisible to scans, listings and due before it is durable", async () => {
    const store = openedIn(temporaryFolder());
    const item = anItem("a", { lookAt: at(1), listed: { view: "v", order: "1" } });
    const written = store.commit([{ put: item, when: "absent" }]);

    const early = await Promise.all([
      store.scan("p", { limit: 1 }),
      store.due(at(1), everything),
      store.list("v", { limit: 1 }),
    ]);

    expect(early.map((page) => page.items)).toEqual([[], [], []]);
    expect(await written).toEqual({ kind: "committed" });
  });

  test("rejects a failed condition for its own call only", async () => {
    const store = openedIn(temporaryFolder());

    const outcomes = await Promise.all([
      store.commit([{ put: anItem("a"), when: "absent" }]),
      store.commit([
        { put: anItem("b"), when: "absent" },
        { put: anItem("a"), when: "absent" },
      ]),
      store.commit([{ put: anItem("c"), when: "absent" }]),
    ]);

    expect(outcomes.map(({ kind }) => kind)).toEqual(["committed", "conflict", "committed"]);
    expect(await versionsIn(store, "a", "b", "c")).toEqual([1, undefined, 1]);
  });

  test("that exceeds its limit is followed by another, still in call order", async () => {
    const store = openedIn(temporaryFolder());
    const count = 2 * MAX_GROUP_WRITES + 1;

    const outcomes = await Promise.all(
      Array.from({ length: count }, (_, n) =>
        store.commit([
          { put: anItem("a", { version: n + 1 }), when: n === 0 ? "absent" : { version: n } },
        ]),
      ),
    );

    expect(outcomes.every(({ kind }) => kind === "committed")).toBe(true);
    expect(await versionsIn(store, "a")).toEqual([count]);
  });
});

describe("tidying", () => {
  test("waits for the next commit, and no caller waits for it", async () => {
    const store = openedIn(temporaryFolder());
    await putAll(store, [anItem("hint")]);

    await store.tidy([key("hint")]);
    expect(await versionsIn(store, "hint")).toEqual([1]);

    await putAll(store, [anItem("a")]);
    expect(await versionsIn(store, "hint")).toEqual([undefined]);
  });

  test("of many hints needs no commit", async () => {
    const store = openedIn(temporaryFolder());
    const hints = Array.from({ length: MAX_WAITING_HINTS }, (_, n) => anItem(`h${n}`));
    await putAll(store, hints);

    await store.tidy(hints.map((hint) => hint.key));
    await turnOfTheLoop();

    expect((await store.scan("p", { limit: 100 })).items).toEqual([]);
  });
});

describe("due, for the host in the same process,", () => {
  test("is exact to the millisecond", async () => {
    const store = openedIn(temporaryFolder());
    await putAll(store, [anItem("a", { lookAt: at(1_700_000_000_123) })]);

    expect((await store.due(at(1_700_000_000_122), everything)).items).toEqual([]);
    expect((await store.due(at(1_700_000_000_123), everything)).items).toEqual([key("a")]);
  });

  test("can leave out entries that are owed since instant 0", async () => {
    const store = openedIn(temporaryFolder());
    const owing = Array.from({ length: 5 }, (_, n) => anItem(`owes${n}`, { lookAt: at(0) }));
    await putAll(store, [...owing, ...[3, 1, 2].map((ms) => anItem(`t${ms}`, { lookAt: at(ms) }))]);

    const between = (limit: number, cursor?: string) =>
      store.dueBetween({ after: at(0), until: at(2), limit, ...(cursor && { cursor }) });

    expect(await between(10)).toEqual({ items: [key("t1"), key("t2")] });
    const first = await between(1);
    expect(first.items).toEqual([key("t1")]);
    expect(await between(1, first.next)).toEqual({ items: [key("t2")] });
    expect((await store.due(at(0), everything)).items).toHaveLength(5);
    expect(store.earliestDue(at(0))).toBe(1);
    expect(store.earliestDue(at(2))).toBe(3);
    expect(store.earliestDue(at(3))).toBeUndefined();
  });

  test("reports the first instant that the commits of a group added, once it is durable", async () => {
    const store = openedIn(temporaryFolder());
    const told: (readonly [Instant, number])[] = [];
    store.watchDue((dueAt) => told.push([dueAt, store.earliestDue(at(0)) ?? 0]));
    await putAll(store, [anItem("a", { lookAt: at(9) }), anItem("b", { lookAt: at(5) })]);
    await putAll(store, [anItem("c", { lookAt: at(7) })]);

    expect(told).toEqual([
      [5, 5],
      [7, 5],
    ]);
  });

  test("reports nothing for a write that was refused, owes something, or has no instant", async () => {
    const store = openedIn(temporaryFolder());
    const told: Instant[] = [];
    store.watchDue((dueAt) => told.push(dueAt));
    await putAll(store, [anItem("a"), anItem("owes", { lookAt: at(0) })]);
    const refused = await store.commit([{ put: anItem("a", { lookAt: at(5) }), when: "absent" }]);
    await store.commit([{ remove: key("owes"), when: "exists" }]);

    expect(refused.kind).toBe("conflict");
    expect(told).toEqual([]);
  });

  test("finds instants before 1970 as well", async () => {
    const store = openedIn(temporaryFolder());
    await putAll(store, [anItem("old", { lookAt: at(-5_000) })]);

    expect((await store.due(at(0), everything)).items).toEqual([key("old")]);
  });
});

describe("an expired item", () => {
  test("is read until it is purged, the longest expired first", async () => {
    const store = openedIn(temporaryFolder());
    await putAll(store, [
      anItem("kept"),
      anItem("second", { expiresAt: at(20) }),
      anItem("first", { expiresAt: at(10), lookAt: at(1) }),
      anItem("later", { expiresAt: at(31) }),
    ]);
    const all = ["kept", "first", "second", "later"];
    expect(await versionsIn(store, ...all)).toEqual([1, 1, 1, 1]);

    expect(store.purgeExpired(at(30), 1)).toBe(1);
    expect(await versionsIn(store, ...all)).toEqual([1, undefined, 1, 1]);
    expect(store.purgeExpired(at(30), 10)).toBe(1);
    expect(await versionsIn(store, ...all)).toEqual([1, undefined, undefined, 1]);
    expect((await store.due(at(99), everything)).items).toEqual([]);
  });
});

describe("a full disk", () => {
  const large = { body: new Uint8Array(20_000).fill(7) };

  test("rejects the whole group, keeps what was acknowledged, and continues when there is space", async () => {
    const folder = temporaryFolder();
    const store = openedIn(folder, { maxPages: 40 });
    const acknowledged = await fill(store);

    const group = await Promise.allSettled([
      store.commit([{ put: anItem("small"), when: "absent" }]),
      store.commit([{ put: anItem("large", { body: new Uint8Array(200_000) }), when: "absent" }]),
    ]);

    for (const result of group) {
      expect(result).toMatchObject({ status: "rejected", reason: { code: "store/disk-full" } });
      const error = result.status === "rejected" ? result.reason : undefined;
      expect(error).toBeInstanceOf(EngineError);
      expect(error.retryable).toBe(true);
      expect(error.message).toContain(folder);
    }
    expect(await versionsIn(store, "small", "large")).toEqual([undefined, undefined]);
    expect(await versionsIn(store, ...acknowledged)).toEqual(acknowledged.map(() => 1));

    await store.commit([{ remove: key("n0"), when: "exists" }]);
    const retried = await store.commit([{ put: anItem("room", large), when: "absent" }]);
    expect(retried).toEqual({ kind: "committed" });

    await store.close();
    const again = openedIn(folder);
    expect(await versionsIn(again, ...acknowledged)).toEqual([
      undefined,
      ...acknowledged.slice(1).map(() => 1),
    ]);
    expect(await versionsIn(again, "room", "small")).toEqual([1, undefined]);
  });

  /** Puts large items until one is refused; the names of those that were not. */
  async function fill(store: Store): Promise<string[]> {
    const names: string[] = [];
    for (;;) {
      const name = `n${names.length}`;
      try {
        await store.commit([{ put: anItem(name, large), when: "absent" }]);
      } catch (error) {
        expect(error).toMatchObject({ code: "store/disk-full" });
        expect(names.length).toBeGreaterThan(2);
        return names;
      }
      names.push(name);
    }
  }
});

const everything = { index: 0, of: 1 };

function at(epochMs: number): Instant {
  return instantFrom(epochMs);
}

function key(sk: string): Key {
  return { pk: "p", sk };
}

function anItem(sk: string, parts: Partial<Item> = {}): Item {
  return { key: key(sk), version: 1, body: Uint8Array.of(1, 2, 3), ...parts };
}

async function putAll(store: Store, items: readonly Item[]): Promise<void> {
  const puts = items.map((item): Write => ({ put: item, when: "absent" }));
  const outcomes = await Promise.all(puts.map((put) => store.commit([put])));
  for (const { kind } of outcomes) expect(kind).toBe("committed");
}

async function versionsIn(store: Store, ...names: string[]): Promise<(number | undefined)[]> {
  return (await store.get(names.map(key))).map((item) => item?.version);
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
