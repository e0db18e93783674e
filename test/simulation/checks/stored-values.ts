// Externalized values, as the world finds them in the store.
import type { Json } from "../../../lib/definition/json.ts";
import type { Stored } from "../../../lib/engine/storage/codec.ts";
import { instancePk, valueHashOf } from "../../../lib/engine/storage/keys.ts";
import { blobName, filled, parseValue } from "../../../lib/engine/storage/values.ts";
import type { Instance } from "../../../lib/kernel/instance.ts";
import type { Item } from "../../../lib/ports/store.ts";
import { must } from "./violation.ts";

/** Where to look. */
export type Places = Readonly<{
  tenant: string;
  items: readonly Item[];
  blobOf: (name: string) => Uint8Array | undefined;
}>;

/** The instance with all its values; a missing one fails the run. */
export function wholeOf(stored: Stored, id: string, places: Places): Stored {
  const values = new Map<string, Json>();
  for (const item of valuesOf(places, id)) {
    const hash = valueHashOf(item.key) ?? "";
    const value = valueIn(item, blobName({ settings: places }, id, hash), places);
    if (value !== undefined) values.set(hash, value);
  }
  try {
    return filled(stored, values);
  } catch (error) {
    must(false, () => `${id} refers to a value that is not stored: ${String(error)}`);
    throw error;
  }
}

function valueIn({ body }: Item, name: string, { blobOf }: Places): Json | undefined {
  const { v, blob } = parseValue(body);
  const bytes = blob && blobOf(name);
  return bytes ? (JSON.parse(new TextDecoder().decode(bytes)) as Json) : v;
}

/** Those of an ended instance expire with it; one of a lost commit may stay. */
export function checkValues(
  { id, apart = [] }: Instance,
  places: Places,
  blobs: ReadonlyMap<string, "kept" | "expiring">,
): void {
  const items = new Map(valuesOf(places, id).map((item) => [valueHashOf(item.key), item]));
  for (const { hash } of apart) {
    const item = items.get(hash);
    must(item?.expiresAt !== undefined, () => `${id} has ended, its value ${hash} stays for ever`);
    const blob = blobs.get(blobName({ settings: places }, id, hash));
    must(blob !== "kept", () => `${id} has ended, its blob ${hash} stays for ever`);
  }
}

export function valuesOf({ tenant, items }: Omit<Places, "blobOf">, id: string): readonly Item[] {
  const pk = instancePk(tenant, id);
  return items.filter(({ key }) => key.pk === pk && valueHashOf(key) !== undefined);
}
