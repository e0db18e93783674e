/** Long texts in parts of a size that every store takes. They are named by their content. */
import { PART_BYTES } from "../../definition/limits.ts";
import type { Store } from "../../ports/store.ts";
import type { World } from "../world.ts";
import { putHint } from "./hint.ts";
import { partKey, type TextName } from "./keys.ts";
import { sound } from "./unreadable.ts";

/** Stores a text; repeating it changes nothing. */
export async function writeParts(
  world: Pick<World, "store" | "clock">,
  at: TextName,
  text: string,
): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  const count = Math.max(1, Math.ceil(bytes.length / PART_BYTES));
  for (let part = 0; part < count; part++) {
    const body = bytes.slice(part * PART_BYTES, (part + 1) * PART_BYTES);
    await putHint(world, { key: partKey(at, part), version: count, body });
  }
}

/** Reads a text back; undefined when it is not there, or not whole. */
export async function readParts(store: Store, at: TextName): Promise<string | undefined> {
  const [first] = await store.get([partKey(at, 0)]);
  if (first === undefined) return undefined;
  const others = Array.from({ length: first.version - 1 }, (_, n) => partKey(at, n + 1));
  const rest = await store.get(others);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for (const part of [first, ...rest]) {
    if (part === undefined) return undefined;
    text += sound(`${at.pk} / ${part.key.sk}`, () => decoder.decode(part.body, { stream: true }));
  }
  return text + sound(`${at.pk} / ${first.key.sk}`, () => decoder.decode());
}
