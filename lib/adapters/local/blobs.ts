/**
 * Blobs in the embedded store itself, in parts of a size that it takes: so they are flushed, purged
 * and copied with the data folder.
 *
 * 1. The head of a blob is written after all its parts: a blob with a head is complete.
 * 2. `expire` marks the head last, so that it can be repeated.
 * 3. Versions are instants: a blob that is put again long after it was marked does not expire.
 */
import { PART_BYTES } from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Clock } from "../../ports/clock.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item, Key, Store } from "../../ports/store.ts";

/** Where blobs are stored, and how long those of ended instances are kept. */
export type StoredBlobsOptions = Readonly<{
  store: Pick<Store, "get" | "commit">;
  clock: Pick<Clock, "now">;
  retentionMs: number;
}>;

export function storedBlobs({ store, clock, retentionMs }: StoredBlobsOptions): Blobs {
  const headOf = async (name: string): Promise<Item | undefined> => {
    const [head] = await store.get([headKey(name)]);
    return head && !isOver(head, clock.now()) ? head : undefined;
  };
  return {
    async put(name, bytes) {
      const count = Math.ceil(bytes.length / PART_BYTES);
      const version = clock.now();
      for (let part = 0; part < count; part++) {
        const body = bytes.slice(part * PART_BYTES, (part + 1) * PART_BYTES);
        await putHint(store, { key: partKey(name, part), version, body });
      }
      await putHint(store, { key: headKey(name), version, body: encodeCount(count) });
    },
    async get(name) {
      const head = await headOf(name);
      return head && joined(await partsOf(store, name, head));
    },
    async expire(name) {
      const head = await headOf(name);
      if (head === undefined || head.expiresAt !== undefined) return;
      const expiresAt = instantFrom(clock.now() + retentionMs);
      for (const part of await partsOf(store, name, head)) {
        await putHint(store, { ...part, version: part.version + 1, expiresAt });
      }
      await putHint(store, { ...head, version: head.version + 1, expiresAt });
    },
    async remove(name) {
      const [head] = await store.get([headKey(name)]);
      if (head === undefined) return;
      // The head last: after a crash in between, the parts are found again.
      for (let part = 0; part < parseCount(head.body); part++) {
        await removeItem(store, partKey(name, part));
      }
      await removeItem(store, headKey(name));
    },
  };
}

const isOver = ({ expiresAt }: Item, now: Instant): boolean =>
  expiresAt !== undefined && expiresAt <= now;

async function partsOf(store: Pick<Store, "get">, name: string, head: Item): Promise<Item[]> {
  const parts: Item[] = [];
  for (let part = 0; part < parseCount(head.body); part++) {
    const [item] = await store.get([partKey(name, part)]);
    if (item === undefined) throw torn(name, part);
    parts.push(item);
  }
  return parts;
}

function joined(parts: readonly Item[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, { body }) => length + body.length, 0));
  let at = 0;
  for (const { body } of parts) {
    whole.set(body, at);
    at += body.length;
  }
  return whole;
}

/** One process owns the store, so a put that loses has met an equal one. */
async function putHint(store: Pick<Store, "commit">, put: Item): Promise<void> {
  await store.commit([{ put, when: "newer" }]);
}

async function removeItem(store: Pick<Store, "commit">, key: Key): Promise<void> {
  await store.commit([{ remove: key, when: "exists" }]);
}

const blobPk = (name: string): string => `_#O#${encodeURIComponent(name)}`;
const headKey = (name: string): Key => ({ pk: blobPk(name), sk: "H" });
const partKey = (name: string, part: number): Key => ({
  pk: blobPk(name),
  sk: `P#${String(part).padStart(10, "0")}`,
});

const encodeCount = (count: number): Uint8Array => new TextEncoder().encode(String(count));
const parseCount = (body: Uint8Array): number => Number(new TextDecoder().decode(body));

function torn(name: string, part: number): EngineError {
  return new EngineError("store/corrupt", {
    happened: `Part ${part} of a large value is missing`,
    where: `blob ${name}`,
    fix: "Restore the data folder from a backup.",
  });
}
