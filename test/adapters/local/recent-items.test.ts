import { describe, expect, it } from "vitest";
import { MAX_RECENT_BYTES, RecentItems } from "../../../lib/adapters/local/recent-items.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import type { Item } from "../../../lib/ports/store.ts";
import { openedIn, temporaryFolder } from "./temporary-store.ts";

const item = (sk: string, version = 1, bytes = 8): Item => ({
  key: { pk: "p", sk },
  version,
  body: new Uint8Array(bytes).fill(version),
});

describe("recent items", () => {
  it("return the very same object again", () => {
    const recent = new RecentItems();
    const kept = item("a");
    recent.keep(kept);
    expect(recent.get({ pk: "p", sk: "a" })).toBe(kept);
  });

  it("evict the least recently used when there are too many", () => {
    const recent = new RecentItems();
    const third = Math.floor(MAX_RECENT_BYTES / 3) - 256;
    for (const sk of ["a", "b", "c"]) recent.keep(item(sk, 1, third));
    recent.get({ pk: "p", sk: "a" });
    recent.keep(item("d", 1, third));
    const left = ["a", "b", "c", "d"].filter((sk) => recent.get({ pk: "p", sk }));
    expect(left).toEqual(["a", "c", "d"]);
  });

  it("do not hold an item larger than the whole cache", () => {
    const recent = new RecentItems();
    recent.keep(item("a", 1, MAX_RECENT_BYTES));
    expect(recent.get({ pk: "p", sk: "a" })).toBeUndefined();
  });
});

describe("a store with recent items", () => {
  it("returns the bytes that were committed last, not those that were refused", async () => {
    const store = openedIn(temporaryFolder());
    const [first, refused, second] = [item("a"), item("a", 2), item("a", 2)];
    await store.commit([{ put: first, when: "absent" }]);
    expect((await store.get([first.key]))[0]?.body).toBe(first.body);
    await store.commit([{ put: refused, when: { version: 7 } }]);
    expect((await store.get([first.key]))[0]?.body).toBe(first.body);
    await store.commit([{ put: second, when: { version: 1 } }]);
    expect((await store.get([first.key]))[0]?.body).toBe(second.body);
  });

  it("drops what was removed, tidied, purged or replaced by a hint", async () => {
    const store = openedIn(temporaryFolder());
    const names = ["removed", "tidied", "purged", "hinted"];
    const key = (sk: string) => ({ pk: "p", sk });
    for (const sk of names) {
      await store.commit([
        { put: { ...item(sk), expiresAt: instantFrom(sk === "purged" ? 1 : 9) }, when: "absent" },
      ]);
    }
    await store.commit([{ remove: key("removed"), when: "exists" }]);
    await store.tidy([key("tidied")]);
    await store.commit([{ put: item("hinted", 2), when: "newer" }]);
    store.purgeExpired(instantFrom(5), 10);
    const found = await store.get(names.map(key));
    expect(found.map((it) => it?.version)).toEqual([undefined, undefined, undefined, 2]);
  });
});
