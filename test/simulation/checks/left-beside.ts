// What is stored beside an erased instance, and which actor wrote it.
import { instancePk } from "../../../lib/engine/storage/keys.ts";
import type { Key } from "../../../lib/ports/store.ts";
import type { Backends } from "../world/ports.ts";
import { type Stage, TENANT } from "../world/stage.ts";

/** Records which actor wrote what is stored beside erased instances. */
export function noteLeft(stage: Stage, backends: Backends): void {
  const erased = [...stage.invariants.lives.values()].filter(({ instance }) => instance.erased);
  if (erased.length === 0) return;
  const there = new Set(erased.flatMap(({ instance: { id } }) => namesLeft(backends, id)));
  for (const name of stage.leftBy.keys()) if (!there.has(name)) stage.leftBy.delete(name);
  for (const name of there) {
    if (!stage.leftBy.has(name)) stage.leftBy.set(name, stage.actors.moved);
  }
}

/** Values, history and claims that are stored beside an instance, and its blobs. */
export function namesLeft({ store, blobs }: Backends, id: string): readonly string[] {
  const items = store.items().filter(({ key }) => isLeft(key, id));
  const named = [...blobs.names().keys()].filter((name) => name.includes(`/${id}/`));
  return [...items.map(({ key }) => `${key.pk} ${key.sk}`), ...named];
}

export const isLeft = ({ pk, sk }: Key, id: string): boolean =>
  pk === instancePk(TENANT, id) && sk !== "S";
