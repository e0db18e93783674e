import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { type Migration, migrations } from "../../../lib/adapters/local/store-format.ts";
import type { ErrorCode } from "../../../lib/ports/engine-error.ts";
import type { Item } from "../../../lib/ports/store.ts";
import { openedIn, temporaryFolder } from "./temporary-store.ts";

const item: Item = { key: { pk: "p", sk: "a" }, version: 1, body: Uint8Array.of(1) };

describe("a data folder", () => {
  test("is created with the folders above it", async () => {
    const folder = join(temporaryFolder(), "deep", "down");

    await openedIn(folder).commit([{ put: item, when: "absent" }]);

    expect(readdirSync(folder)).toContain("store.db");
  });

  test("has one owner: a second one in the same process is refused", () => {
    const folder = temporaryFolder();
    openedIn(folder);

    const refusal = refusalOf(() => openedIn(folder));

    expect(refusal.code).toBe("store/folder-in-use");
    expect(refusal.message).toContain("this process already");
    expect(refusal.message).toContain(folder);
  });

  test("is free again when its owner has closed it", async () => {
    const folder = temporaryFolder();
    await openedIn(folder).close();

    expect(() => openedIn(folder)).not.toThrow();
  });

  test("of another process is refused with its pid, and is free once that process was killed", async () => {
    const folder = temporaryFolder();
    const program = join(import.meta.dirname, "../../support/hold-folder.ts");
    const owner = spawn(process.execPath, [program, folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(owner.stdout, "data");

    const refusal = refusalOf(() => openedIn(folder));
    expect(refusal.code).toBe("store/folder-in-use");
    expect(refusal.message).toContain(`process ${owner.pid}`);

    owner.kill("SIGKILL");
    await once(owner, "exit");
    const items = await openedIn(folder).get([{ pk: "p", sk: "held" }]);
    expect(items[0]?.version).toBe(1);
  });
});

describe("an unusable data folder is refused by name:", () => {
  test("a path below a file", () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "not a folder");

    expectRefusal(join(file, "data"), "store/folder-unusable");
  });

  test("a read-only folder", () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o555);

    asOrdinaryUser(() => expectRefusal(folder, "store/folder-unusable"));
  });

  test("a folder whose database is not a file", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "store.db"));

    expectRefusal(folder, "store/folder-unusable");
  });

  test("a folder whose database is not a database", () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "store.db"), "garbage ".repeat(1_000));

    expectRefusal(folder, "store/corrupt");
  });

  test("a folder with the database of another application", () => {
    const folder = temporaryFolder();
    const other = new DatabaseSync(join(folder, "store.db"));
    other.exec("CREATE TABLE songs (title TEXT)");
    other.close();

    expectRefusal(folder, "store/corrupt");
  });

  test("the failed attempt leaves no lock behind", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "store.db"));

    expectRefusal(folder, "store/folder-unusable");
    expectRefusal(folder, "store/folder-unusable");
  });

  /** Nothing is read-only for root, so the process becomes the user nobody for a moment. */
  function asOrdinaryUser(act: () => void): void {
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      act();
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  }

  function expectRefusal(folder: string, code: ErrorCode): void {
    const refusal = refusalOf(() => openedIn(folder));
    expect(refusal.code).toBe(code);
    expect(refusal.message).toContain(folder);
  }
});

describe("the format of a data folder", () => {
  const addNotes: Migration = (db) =>
    db.exec("ALTER TABLE items ADD COLUMN note TEXT DEFAULT 'new'");
  const nextFormat = [...migrations, addNotes];

  test("that is older is migrated once, and keeps its contents", async () => {
    const folder = temporaryFolder();
    const old = openedIn(folder);
    await old.commit([{ put: item, when: "absent" }]);
    await old.close();

    for (const _ of ["migrates", "is up to date"]) {
      const store = openedIn(folder, { migrations: nextFormat });
      expect((await store.get([item.key]))[0]?.version).toBe(1);
      await store.close();
    }

    expect(formatOf(folder)).toBe(nextFormat.length);
  });

  test("that is newer is refused with both numbers, and left unchanged", async () => {
    const folder = temporaryFolder();
    await openedIn(folder, { migrations: nextFormat }).close();

    const refusal = refusalOf(() => openedIn(folder));

    expect(refusal.code).toBe("store/format-too-new");
    expect(refusal.message).toContain(`format ${nextFormat.length}`);
    expect(refusal.message).toContain(`up to ${migrations.length}`);
    expect(formatOf(folder)).toBe(nextFormat.length);
  });

  test("stays the old one when a migration fails midway", async () => {
    const folder = temporaryFolder();
    await openedIn(folder).close();
    const failing: Migration = (db) => {
      addNotes(db);
      throw new Error("half way");
    };

    expect(() => openedIn(folder, { migrations: [...migrations, failing] })).toThrow();

    expect(formatOf(folder)).toBe(migrations.length);
    expect(() => openedIn(folder, { migrations: nextFormat })).not.toThrow();
  });

  function formatOf(folder: string): unknown {
    const db = new DatabaseSync(join(folder, "store.db"), { readOnly: true });
    const row = db.prepare("PRAGMA user_version").get();
    db.close();
    return row?.user_version;
  }
});

function refusalOf(attempt: () => unknown): { code: unknown; message: string } {
  try {
    attempt();
  } catch (error) {
    if (error instanceof Error && "code" in error) return error as Error & { code: unknown };
    throw error;
  }
  throw new Error("nothing was refused");
}
