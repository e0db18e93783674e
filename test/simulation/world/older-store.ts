// The store as seen by a host that runs the code of the previous format. It writes instances and
// history in that format, which newer hosts continue from. It can read what it has written itself;
// an instance that another host has written since has a format that it does not know.
import { FORMATS } from "../../../lib/engine/storage/formats.ts";
import { instanceIdOf } from "../../../lib/engine/storage/keys.ts";
import type { Item, Outcome, Store, Write } from "../../../lib/ports/store.ts";

export function olderStore(store: Store): Store {
  const written = new Set<string>();
  const seen = (item: Item | undefined): Item | undefined =>
    item && instanceIdOf(item.key) !== undefined && !written.has(nameOf(item)) ? newer(item) : item;
  return {
    get: async (keys, how) => (await store.get(keys, how)).map(seen),
    commit: async (writes) => {
      const [first, ...others] = writes;
      const outcome = await store.commit([asBefore(first), ...others.map(asBefore)]);
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

const asBefore = (write: Write): Write =>
  "put" in write && write.put.key.pk.includes("#I#") ? { ...write, put: before(write.put) } : write;

/** Without what today's format has brought: occurrences in history, a journal, the start of a run. */
function before(item: Item): Item {
  const kind = item.key.sk === "S" ? "instance" : "chunk";
  if (kind === "chunk" && !item.key.sk.startsWith("T#")) return item;
  const { j: _, ra: __, ...said } = JSON.parse(new TextDecoder().decode(item.body));
  const t = String(said.t).replaceAll(/~|:[0-9a-z]+/g, "");
  const body = JSON.stringify({ ...said, t, f: FORMATS[kind] - 1 });
  return { ...item, body: new TextEncoder().encode(body) };
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
