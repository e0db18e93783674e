import { describe, expect, test } from "vitest";
import type { LocalStore } from "../../../lib/adapters/local/store.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { damagePage, type PageKind } from "../../support/damage.ts";
import { openedIn, temporaryFolder } from "./temporary-store.ts";

const FIRST = { pk: "p", sk: "0000" };
const damaged = { code: "store/corrupt", retryable: false, stopsEngine: true };

describe("a database file in which a bit of SQLite's own pages was flipped", () => {
  for (const page of ["interior table page", "interior index page"] as const) {
    test(`stops the store at the first read that finds it: ${page}`, async () => {
      const { store, told } = await aDamagedStore(page);

      await expect(store.get([FIRST])).rejects.toMatchObject(damaged);

      expect(told).toEqual([expect.objectContaining(damaged)]);
      await expectStopped(store);
      expect(told).toHaveLength(1);
    });

    test(`stops the store at the first commit that finds it: ${page}`, async () => {
      const { store, told } = await aDamagedStore(page);

      await expect(put(store, "new")).rejects.toMatchObject(damaged);

      expect(told).toEqual([expect.objectContaining(damaged)]);
      await expectStopped(store);
    });
  }

  test("stops it although commits that do not reach the page were accepted before", async () => {
    const { store, told } = await aDamagedStore("table leaf");
    expect(await put(store, "new")).toEqual({ kind: "committed" });

    await expect(store.scan("p", { limit: 100 })).rejects.toMatchObject(damaged);

    expect(told).toHaveLength(1);
    await expectStopped(store);
  });

  test("rejects a commit that was waiting for its flush", async () => {
    const { store, told } = await aDamagedStore("table leaf");
    const waiting = expect(put(store, "new")).rejects.toMatchObject(damaged);

    await expect(store.scan("p", { limit: 100 })).rejects.toMatchObject(damaged);

    await waiting;
    expect(told).toHaveLength(1);
  });

  test("stops the purge", async () => {
    const { store } = await aDamagedStore("interior table page");
    await expect(store.get([FIRST])).rejects.toMatchObject(damaged);

    expect(() => store.purgeExpired(instantFrom(0), 10)).toThrow(expect.objectContaining(damaged));
  });

  test("is reported as damage, not as a lost log, when the store is opened again", async () => {
    const { store, folder } = await aDamagedStore("table leaf");
    await put(store, "new");
    await expect(store.scan("p", { limit: 100 })).rejects.toMatchObject(damaged);
    await store.close();

    const again = openedIn(folder);

    expect(await again.get([{ pk: "p", sk: "new" }])).toMatchObject([{ version: 1 }]);
    await expect(again.scan("p", { limit: 100 })).rejects.toMatchObject(damaged);
  });
});

async function expectStopped(store: LocalStore): Promise<void> {
  await expect(put(store, "more")).rejects.toMatchObject(damaged);
  await expect(store.get([FIRST])).rejects.toMatchObject(damaged);
  await expect(store.scan("none", { limit: 1 })).rejects.toMatchObject(damaged);
  await expect(store.list("none", { limit: 1 })).rejects.toMatchObject(damaged);
  expect(() => store.checkFiles()).toThrow(expect.objectContaining(damaged));
}

async function aDamagedStore(page: PageKind) {
  const folder = await aFolder();
  damagePage(folder, page);
  const store = openedIn(folder);
  const told: unknown[] = [];
  store.watchLost((error) => told.push(error));
  return { folder, store, told };
}

/** A closed store of so many items that its table and its index have interior pages. */
async function aFolder(): Promise<string> {
  const folder = temporaryFolder();
  const store = openedIn(folder);
  const names = Array.from({ length: 400 }, (_, n) => String(n).padStart(4, "0"));
  await Promise.all(names.map((sk) => put(store, sk)));
  await store.close();
  return folder;
}

function put(store: LocalStore, sk: string) {
  const key = { pk: "p", sk };
  return store.commit([{ put: { key, version: 1, body: new Uint8Array(500) }, when: "absent" }]);
}
