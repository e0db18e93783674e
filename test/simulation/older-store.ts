// The store as a host sees it that runs the code of one format before. What it has written itself it
// can read; every instance that another host has written since is of a format that it does not know.
import { FORMATS } from "../../lib/engine/formats.ts";
import { instanceIdOf } from "../../lib/engine/keys.ts";
import type { Item, Outcome, Store, Write } from "../../lib/ports/store.ts";

export function olderStore(store: Store): Store {
  const written = new Set<string>();
  const seen = (item: Item | undefined): Item | undefined =>
    item && instanceIdOf(item.key) !== undefined && !written.has(nameOf(item)) ? newer(item) : item;
  return {
    get: async (keys, how) => (await store.get(keys, how)).map(seen),
    commit: async (writes) => {
      const outcome = await store.commit(writes);
      if (outcome.kind === "committed") for (const name of putBy(writes)) written.add(name);
      return withImages(outcome, seen);
    },
    scan: (pk, range) => store.scan(pk, range),
    due: (until, slice, after, from) => store.due(until, slice, after, from),
    list: (view, range) => store.list(view, range),
    tidy: (hints) => store.tidy(hints),
    close: () => store.close(),
  };
}

const nameOf = ({ key, version }: Item): string => `${key.pk} ${version}`;

const putBy = (writes: readonly Write[]): readonly string[] =>
  writes.flatMap((write) => ("put" in write ? [nameOf(write.put)] : []));

function newer(item: Item): Item {
  const said: object = JSON.parse(new TextDecoder().decode(item.body));
  const body = JSON.stringify({ ...said, f: FORMATS.instance + 1 });
  return { ...item, body: new TextEncoder().encode(body) };
}

function withImages(outcome: Outcome, seen: (item: Item | undefined) => Item | undefined): Outcome {
  if (outcome.kind !== "conflict") return outcome;
  const current = outcome.current.map((result) => {
    const item = result.ok ? undefined : seen(result.item);
    return result.ok || item === undefined ? result : { ok: false as const, item };
  });
  return { kind: "conflict", current };
}
