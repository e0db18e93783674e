/** Where externalized values are kept: in items beside their instance, the largest as blobs. */
import type { Json } from "../../definition/json.ts";
import { MAX_REMEMBERED_VALUE_BYTES, MAX_VALUE_ITEM_BYTES } from "../../definition/limits.ts";
import type { Externalized, Instance } from "../../kernel/instance.ts";
import { runOf } from "../../kernel/trail.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item, Key } from "../../ports/store.ts";
import type { World } from "../world.ts";
import type { Stored } from "./codec.ts";
import type { NewValue } from "./externalized.ts";
import { encodeBody, parserOf } from "./formats.ts";
import { perWorld } from "./in-process.ts";
import { readMany, tryPutHint } from "./items.ts";
import { instancePk, valueHashOf, valueKey } from "./keys.ts";
import { withValues } from "./paths.ts";
import { readableOf, sound } from "./unreadable.ts";

/** Whether all of them are stored now; false when the store stays busy. */
export async function storeValues(
  world: World,
  instance: Life,
  values: readonly NewValue[],
): Promise<boolean> {
  for (const value of values) {
    if (!(await storeValue(world, instance, value))) return false;
  }
  return true;
}

type Life = Pick<Instance, "id" | "startedAt" | "runAt">;

/**
 * An item stands for a blob too, so that it is found when the values of the instance go. Where an
 * earlier life of the same id has left one that is about to expire, this one is the newer.
 */
async function storeValue(world: World, life: Life, value: NewValue) {
  const key = valueKey(instancePk(world.settings.tenant, life.id), value.hash);
  const put = (body: object) =>
    tryPutHint(world, { key, version: runOf(life), body: encodeBody("value", body) });
  if (!isBlob(world, value)) return put({ v: value.value });
  const bytes = new TextEncoder().encode(JSON.stringify(value.value));
  await world.blobs.put(blobName(world, life.id, value.hash), bytes);
  return put({ blob: true });
}

const isBlob = ({ settings }: World, { bytes }: Externalized): boolean =>
  bytes > (settings.blobBytes ?? MAX_VALUE_ITEM_BYTES);

/** Names say whose they are: equal values of two instances live and go on their own. */
export const blobName = (
  { settings }: Readonly<{ settings: Pick<World["settings"], "tenant"> }>,
  instanceId: string,
  hash: string,
): string =>
  `values/${encodeURIComponent(settings.tenant)}/${encodeURIComponent(instanceId)}/${hash}`;

/** The instance as it was read, with every value where it belongs. */
export async function withExternalized(
  world: World,
  instanceId: string,
  stored: Stored,
): Promise<Stored> {
  const hashes = (stored.packed.v ?? []).map(([, hash]) => hash);
  if (hashes.length === 0) return stored;
  return filled(stored, await readValues(world, instanceId, hashes));
}

/** Puts values where they belong; every one that the instance names must be there. */
export function filled(stored: Stored, values: ReadonlyMap<string, Json>): Stored {
  const refs = stored.packed.v ?? [];
  const changes = refs.map(([at, hash]) => {
    const value = values.get(hash);
    if (value === undefined) throw missing(hash);
    return [at, value] as const;
  });
  return { ...stored, packed: withValues(stored.packed, changes) };
}

const missing = (hash: string): EngineError =>
  new EngineError("instance/value-missing", { where: `value ${hash}` });

/** Expires or removes the blobs of these values; their items may be gone, or were never put. */
export async function releaseBlobs(
  world: World,
  how: "expire" | "remove",
  instanceId: string,
  values: readonly Externalized[],
): Promise<void> {
  for (const { hash } of values.filter((each) => isBlob(world, each))) {
    await world.blobs[how](blobName(world, instanceId, hash));
  }
}

/** Expires the blob of a stored value, if it has one. */
export const expireValue = (world: World, instanceId: string, item: Item) =>
  releaseBlobOf(world, "expire", instanceId, item);

/** Removes the blob of a stored value, if it has one. */
export const removeBlobOf = (world: World, instanceId: string, item: Item) =>
  releaseBlobOf(world, "remove", instanceId, item);

/** An item that cannot be read may stand for a blob: to release one that is not there is harmless. */
async function releaseBlobOf(
  world: World,
  how: "expire" | "remove",
  instanceId: string,
  item: Item,
): Promise<void> {
  const hash = valueHashOf(item.key);
  if (hash === undefined) return;
  const [value] = readableOf(world, [item], ({ body }) => parseValue(body));
  if (value && value.blob === undefined) return;
  await world.blobs[how](blobName(world, instanceId, hash));
}

async function readValues(
  world: World,
  instanceId: string,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, Json>> {
  const remembered = rememberedBy(world);
  const values = new Map<string, Json>();
  const unread = new Set<string>();
  for (const hash of hashes) {
    const known = remembered.get(hash);
    if (known === undefined) unread.add(hash);
    else values.set(hash, known.value);
  }
  const pk = instancePk(world.settings.tenant, instanceId);
  const keys = [...unread].map((hash) => valueKey(pk, hash));
  for (const item of await readItems(world, keys)) {
    const hash = valueHashOf(item.key) ?? "";
    const read = await valueIn(world, instanceId, item);
    if (read === undefined) continue;
    values.set(hash, read.value);
    remember(world, hash, read);
  }
  return values;
}

/** Only the item knows where its value lies: what is too large for one may change. */
async function valueIn(
  world: World,
  instanceId: string,
  { key, body }: Item,
): Promise<Remembered | undefined> {
  const { v: value = null, blob } = parseValue(body);
  if (blob === undefined) return { value, bytes: body.length };
  const name = blobName(world, instanceId, valueHashOf(key) ?? "");
  const bytes = await world.blobs.get(name);
  return bytes && { value: parseBlob(name, bytes), bytes: bytes.length };
}

/** A value never changes, so a stale read of it is right; only one that sees nothing may be wrong. */
async function readItems({ store }: World, keys: readonly Key[]): Promise<readonly Item[]> {
  const items = await readMany(store, keys, { stale: true });
  const unseen = keys.filter((_, n) => items[n] === undefined);
  return [...items, ...(await readMany(store, unseen))].filter((item) => item !== undefined);
}

/** The value of an item, or that it stands for a blob. */
export const parseValue = parserOf<Readonly<{ v?: Json; blob?: true }>>("value");

const parseBlob = (name: string, bytes: Uint8Array): Json =>
  sound(`blob ${name}`, () => JSON.parse(new TextDecoder().decode(bytes)) as Json);

// What this host has read lately.

type Remembered = Readonly<{ value: Json; bytes: number }>;

const rememberedBy = perWorld(() => new Map<string, Remembered>());

/** The oldest leave when there are too many. */
function remember(world: World, hash: string, value: Remembered): void {
  const values = rememberedBy(world).set(hash, value);
  let bytes = [...values.values()].reduce((sum, each) => sum + each.bytes, 0);
  for (const [oldest, each] of values) {
    if (bytes <= MAX_REMEMBERED_VALUE_BYTES) return;
    values.delete(oldest);
    bytes -= each.bytes;
  }
}
