import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Instant, instantFrom } from "../../lib/definition/time/instant.ts";
import type { Item, Key, Store, Write } from "../../lib/ports/store.ts";
import type { OpenedStore, StorePromises } from "./store-opening.ts";

/**
 * Random commits, single and concurrent, against a plain map that knows only the rules of the port.
 */
export function storeModelTests(
  name: string,
  open: () => Promise<OpenedStore>,
  { inCallOrder }: StorePromises,
): void {
  const atOnce = inCallOrder ? 5 : 1;
  describe(`${name}, compared with a plain map,`, () => {
    test("answers every commit alike and holds the same items and indexes", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(turnsOf(atOnce), { maxLength: 12 }), async (history) => {
          const { store, close } = await open();
          try {
            const model = new Map<string, Item>();
            for (const turn of history) await play(store, model, turn);
            expect(await everythingIn(store)).toEqual(everythingOf(model));
          } finally {
            await close();
          }
        }),
        { numRuns: 40 },
      );
    });
  });
}

const names = ["a", "b", "\uffee", "🙂"];
const keys = ["p", "q"].flatMap((pk) => names.map((sk) => ({ pk, sk })));
const views = ["v", "w"];

const version = fc.integer({ min: 1, max: 3 });
const condition = fc.record({ version });
const item = fc.record(
  {
    key: fc.constantFrom(...keys),
    version,
    body: fc.uint8Array({ maxLength: 3 }),
    lookAt: fc.integer({ min: 0, max: 5 }).map(instantFrom),
    listed: fc.record({ view: fc.constantFrom(...views), order: fc.constantFrom(...names) }),
    expiresAt: fc.constant(instantFrom(9)),
  },
  { requiredKeys: ["key", "version", "body"] },
);
const authority: fc.Arbitrary<Write> = fc.oneof(
  fc.record({ put: item, when: fc.oneof(fc.constant("absent" as const), condition) }),
  fc.record({
    remove: fc.constantFrom(...keys),
    when: fc.oneof(fc.constant("exists" as const), condition),
  }),
  fc.record({ expect: fc.constantFrom(...keys), when: condition }),
);
const hint: fc.Arbitrary<Write> = fc.record({ put: item, when: fc.constant("newer" as const) });
const writes = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.uniqueArray(authority, { minLength: 1, maxLength: 3, selector: nameOfWrite }),
  },
  { weight: 1, arbitrary: hint.map((write) => [write]) },
);
/** Commits that are made concurrently, in this order. */
const turnsOf = (maxLength: number) => fc.array(writes, { minLength: 1, maxLength });

async function play(store: Store, model: Map<string, Item>, turn: readonly Write[][]) {
  const answers = turn.map((commit) => store.commit(commit as [Write, ...Write[]]));
  const expected = turn.map((commit) => commitTo(model, commit));
  expect((await Promise.all(answers)).map(comparable)).toEqual(expected.map(comparable));
}

function commitTo(model: Map<string, Item>, commit: readonly Write[]) {
  const current = commit.map((write) => {
    const there = model.get(nameOfWrite(write));
    return holds(write, there) ? { ok: true } : { ok: false, ...(there && { item: there }) };
  });
  if (current.some(({ ok }) => !ok)) return { kind: "conflict", current };
  for (const write of commit) {
    const name = nameOfWrite(write);
    if ("remove" in write) model.delete(name);
    const there = model.get(name)?.version ?? 0;
    if ("put" in write && (write.when !== "newer" || there < write.put.version)) {
      model.set(name, write.put);
    }
  }
  return { kind: "committed" };
}

function holds({ when }: Write, there: Item | undefined): boolean {
  if (when === "newer") return true;
  if (when === "absent") return there === undefined;
  return when === "exists" ? there !== undefined : there?.version === when.version;
}

async function everythingIn(store: Store) {
  const scans = await Promise.all(["p", "q"].map((pk) => store.scan(pk, { limit: 100 })));
  const lists = await Promise.all(views.map((view) => store.list(view, { limit: 100 })));
  const due = await store.due(instantFrom(60_000), { index: 0, of: 1 });
  return {
    items: scans.flatMap(({ items }) => items.map(comparable)),
    lists: lists.map(({ items }) => items.map(nameOf).toSorted()),
    due: due.items.map(nameOf).toSorted(),
  };
}

function everythingOf(model: Map<string, Item>) {
  const items = [...model.values()].sort((a, b) => Buffer.compare(bytesOf(a.key), bytesOf(b.key)));
  const withLookAt = items.filter(({ lookAt }: { lookAt?: Instant }) => lookAt !== undefined);
  const inView = (view: string) => items.filter(({ listed }) => listed?.view === view);
  return {
    items: items.map(comparable),
    lists: views.map((view) =>
      inView(view)
        .map(({ key }) => nameOf(key))
        .toSorted(),
    ),
    due: withLookAt.map(({ key }) => nameOf(key)).toSorted(),
  };
}

function bytesOf({ pk, sk }: Key): Buffer {
  return Buffer.from(`${pk}\0${sk}`);
}

function nameOfWrite(write: Write): string {
  if ("put" in write) return nameOf(write.put.key);
  return nameOf("remove" in write ? write.remove : write.expect);
}

function nameOf({ pk, sk }: Key): string {
  return `${pk}/${sk}`;
}

/** Text in which bytes are shown by their values and absent parts by their absence. */
function comparable(value: unknown): string {
  return JSON.stringify(value, (_, part) => {
    if (part instanceof Uint8Array) return [...part];
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
