import {
  cpSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { LOG_BYTES_KEPT } from "../../../lib/adapters/local/data-folder.ts";
import type { LocalStore } from "../../../lib/adapters/local/store.ts";
import { openedIn, temporaryFolder } from "./temporary-store.ts";

describe("a file that is removed while the store is open", () => {
  for (const name of ["owner.lock", "store.db", "store.db-wal"]) {
    test(`is noticed before the next acknowledgement, and stops the store: ${name}`, async () => {
      const folder = temporaryFolder();
      const store = openedIn(folder);
      const told: unknown[] = [];
      store.watchLost((error) => told.push(error));
      await put(store, 1);
      rmSync(join(folder, name));

      await expect(put(store, 2)).rejects.toMatchObject({ code: "store/commit-failed" });

      const removed = { code: "store/files-removed", retryable: false };
      expect(told).toEqual([expect.objectContaining(removed)]);
      await expect(put(store, 2)).rejects.toMatchObject(removed);
      await expect(store.get([KEY])).rejects.toThrow(name);
    });
  }

  test("is noticed, and what was acknowledged is there again once it is put back: owner.lock", async () => {
    const folder = temporaryFolder();
    const store = openedIn(folder);
    await put(store, 1);
    rmSync(join(folder, "owner.lock"));
    expect(() => store.checkFiles()).toThrow();
    await store.close();

    const again = openedIn(folder);

    expect(await again.get([KEY])).toMatchObject([{ version: 1 }]);
    await again.close();
  });

  test("is noticed when another file takes its place, and when nothing is committed", async () => {
    const folder = temporaryFolder();
    const store = openedIn(folder);
    await put(store, 1);
    cpSync(join(folder, "store.db"), join(folder, "copy"));
    renameSync(join(folder, "copy"), join(folder, "store.db"));

    expect(() => store.checkFiles()).toThrow("store.db was removed or replaced");
  });
});

describe("a file that is truncated under an open store", () => {
  const lengths: Record<string, (bytes: number) => number> = {
    "to nothing": () => 0,
    "by one byte": (bytes) => bytes - 1,
  };
  for (const name of ["store.db", "store.db-wal"]) {
    for (const [how, lengthOf] of Object.entries(lengths)) {
      test(`${how} is noticed before the next acknowledgement, and stops the store: ${name}`, async () => {
        const folder = temporaryFolder();
        const store = openedIn(folder);
        const told: unknown[] = [];
        store.watchLost((error) => told.push(error));
        await put(store, 1);
        const file = join(folder, name);
        truncateSync(file, lengthOf(statSync(file).size));

        await expect(put(store, 2)).rejects.toMatchObject({ code: "store/commit-failed" });

        const truncated = { code: "store/files-removed", stopsEngine: true };
        expect(told).toEqual([expect.objectContaining(truncated)]);
        await expect(put(store, 2)).rejects.toMatchObject(truncated);
        await expect(store.get([KEY])).rejects.toThrow(`${name} was truncated`);
      });
    }

    test(`is noticed when nothing is committed: ${name}`, async () => {
      const folder = temporaryFolder();
      const store = openedIn(folder);
      await put(store, 1);
      truncateSync(join(folder, name));

      expect(() => store.checkFiles()).toThrow(`${name} was truncated`);
    });

    test(`is refused when the folder is opened again: ${name}`, async () => {
      const folder = temporaryFolder();
      const store = openedIn(folder);
      await put(store, 1);
      truncateSync(join(folder, name));
      expect(() => store.checkFiles()).toThrow();
      await store.close();

      expect(() => openedIn(folder)).toThrow(expect.objectContaining({ code: "store/log-lost" }));
    });
  }

  test("leaves the log beside it, to go on with once the file is restored: store.db", async () => {
    const folder = temporaryFolder();
    const [file, log] = [join(folder, "store.db"), join(folder, "store.db-wal")];
    const store = openedIn(folder);
    await put(store, 1);
    const [whole, logged] = [readFileSync(file), readFileSync(log)];
    truncateSync(file);
    expect(() => store.checkFiles()).toThrow();

    await store.close();

    expect(statSync(file).size).toBe(0);
    expect(readFileSync(`${log}.kept`)).toEqual(logged);
    writeFileSync(file, whole);
    renameSync(`${log}.kept`, log);
    const again = openedIn(folder);
    expect(await again.get([KEY])).toMatchObject([{ version: 1 }]);
    await again.close();
  });

  test("is not confused with a long log that SQLite itself shortens", async () => {
    const folder = temporaryFolder();
    const store = openedIn(folder);
    const log = () => statSync(join(folder, "store.db-wal")).size;
    const body = new Uint8Array(400_000);
    const names = Array.from({ length: 180 }, (_, n) => `${n}`);
    await Promise.all(
      names.map((sk) =>
        store.commit([{ put: { key: { pk: "q", sk }, version: 1, body }, when: "absent" }]),
      ),
    );
    expect(log()).toBeGreaterThan(LOG_BYTES_KEPT);

    await put(store, 1);
    await put(store, 2);

    expect(log()).toBe(LOG_BYTES_KEPT);
    expect((await store.get([KEY]))[0]?.version).toBe(2);
  });
});

describe("a log that lost its tail", () => {
  test("is opened as long as it is complete", async () => {
    const copy = await killedAfter(20);

    const [item] = await openedIn(copy).get([KEY]);

    expect(item?.version).toBe(20);
  });

  const losses: Record<string, (folder: string) => void> = {
    "was cut off": (folder) => truncateSync(join(folder, "store.db-wal"), 32 + 5 * 4_120),
    "is empty": (folder) => truncateSync(join(folder, "store.db-wal"), 0),
    "was removed": (folder) => rmSync(join(folder, "store.db-wal")),
    "was damaged in the middle": (folder) => flipByte(join(folder, "store.db-wal"), 32 + 3 * 4_120),
    "was damaged in its header": (folder) => flipByte(join(folder, "store.db-wal"), 20),
    "is without its database": (folder) => rmSync(join(folder, "store.db")),
  };
  for (const [how, lose] of Object.entries(losses)) {
    test(`is refused when it ${how}, until the loss is accepted`, async () => {
      const copy = await killedAfter(20);
      lose(copy);

      expect(() => openedIn(copy)).toThrow(
        expect.objectContaining({ code: "store/log-lost", retryable: false }),
      );
      const left = filesIn(copy);
      expect(() => openedIn(copy)).toThrow("acceptLoss");
      expect(filesIn(copy)).toEqual(left);
      const accepted = openedIn(copy, { acceptLoss: true });
      await accepted.close();
      expect(() => openedIn(copy)).not.toThrow();
    });
  }

  test("is complete again after the missing part is restored, even after a refused open", async () => {
    const copy = await killedAfter(20);
    renameSync(join(copy, "store.db"), join(copy, "elsewhere"));
    expect(() => openedIn(copy)).toThrow("store.db is missing");

    renameSync(join(copy, "elsewhere"), join(copy, "store.db"));
    const [item] = await openedIn(copy).get([KEY]);

    expect(item?.version).toBe(20);
  });

  test("is also refused without its database after a clean stop", async () => {
    const folder = temporaryFolder();
    const store = openedIn(folder);
    await put(store, 1);
    await store.close();
    rmSync(join(folder, "store.db"));

    expect(() => openedIn(folder)).toThrow(expect.objectContaining({ code: "store/log-lost" }));
  });

  test("is opened after it was restarted many times", async () => {
    const copy = await killedAfter(1_200);

    const [item] = await openedIn(copy).get([KEY]);

    expect(item?.version).toBe(1_200);
  });
});

const KEY = { pk: "p", sk: "a" };

function put(store: LocalStore, version: number) {
  const when = version === 1 ? ("absent" as const) : { version: version - 1 };
  return store.commit([{ put: { key: KEY, version, body: new Uint8Array(3_000) }, when }]);
}

function flipByte(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

/** The store's files and their contents. */
const filesIn = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name.startsWith("store."))
      .map((name) => [name, readFileSync(join(folder, name)).toString("base64")]),
  );

/** A copy of the files of a store that dies after this many commits. */
async function killedAfter(commits: number): Promise<string> {
  const folder = temporaryFolder();
  const store = openedIn(folder);
  for (let version = 1; version <= commits; version++) await put(store, version);
  const copy = temporaryFolder();
  cpSync(folder, copy, { recursive: true });
  return copy;
}
