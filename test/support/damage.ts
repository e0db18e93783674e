import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openLocalStore } from "../../lib/adapters/local/store.ts";
import { CHUNKS } from "../../lib/engine/storage/keys.ts";

/** Truncates the stored bytes of an instance in a closed data folder. */
export const damageInstance = (dataDir: string, instanceId: string): Promise<void> =>
  damageItem(dataDir, `default#I#${instanceId}`);

/** Changes the stored bytes of the first item of a partition there. */
export async function damageItem(
  dataDir: string,
  pk: string,
  change: (body: Uint8Array) => Uint8Array = (body) => body.slice(0, 20),
): Promise<void> {
  const store = openLocalStore({ folder: dataDir });
  const [item] = (await store.scan(pk, { limit: 1 })).items;
  if (item === undefined) throw new Error(`There is nothing in ${pk}.`);
  const put = { ...item, body: change(item.body) };
  await store.commit([{ put, when: { version: item.version } }]);
  await store.close();
}

/** Changes the first chunk of an instance there, or removes it where there is nothing to change to. */
export async function damageChunk(
  dataDir: string,
  instanceId: string,
  change: (body: Uint8Array) => Uint8Array | undefined,
): Promise<void> {
  const store = openLocalStore({ folder: dataDir });
  const pk = `default#I#${instanceId}`;
  const [chunk] = (await store.scan(pk, { ...CHUNKS, limit: 1 })).items;
  if (chunk === undefined) throw new Error(`There is no chunk of ${instanceId}.`);
  const when = { version: chunk.version };
  const body = change(chunk.body);
  await store.commit([body ? { put: { ...chunk, body }, when } : { remove: chunk.key, when }]);
  await store.close();
}

/** The first byte of a page: see "B-tree Pages" of SQLite's file format. */
const PAGE_KINDS = { "interior index page": 2, "interior table page": 5, "table leaf": 13 };
export type PageKind = keyof typeof PAGE_KINDS;

/** Flips a bit in the header of the first such page of a closed folder's database file. */
export function damagePage(dataDir: string, page: PageKind): void {
  const file = join(dataDir, "store.db");
  const bytes = readFileSync(file);
  const kind = PAGE_KINDS[page];
  for (let start = PAGE_BYTES; start < bytes.length; start += PAGE_BYTES) {
    if (bytes[start] !== kind) continue;
    bytes[start] = kind ^ 0x40;
    writeFileSync(file, bytes);
    return;
  }
  throw new Error(`${file} has no ${page}.`);
}

const PAGE_BYTES = 4_096;
