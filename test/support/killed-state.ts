// What a kill left behind, read from a copy: the folder itself stays as it was, so that the next
// process has everything to recover.

import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLocalStore } from "../../lib/adapters/local/store.ts";
import type { Definition } from "../../lib/definition/definition.ts";
import { readJournal } from "../../lib/engine/storage/chunks.ts";
import { decodeInstance, parseStored } from "../../lib/engine/storage/codec.ts";
import {
  definitionPk,
  instanceIdOf,
  type Phase,
  phaseView,
} from "../../lib/engine/storage/keys.ts";
import { parseDefinition, readParts } from "../../lib/engine/storage/programs.ts";
import type { Instance } from "../../lib/kernel/instance.ts";
import type { JournalEntry } from "../../lib/kernel/trail.ts";
import type { Key, Store } from "../../lib/ports/store.ts";
import { type Left, leftIn } from "./left-in-store.ts";

const TENANT = "default";
const PAGE = 100;

/** The live instances of these definitions, as the store holds them. */
export const liveInstances = (
  folder: string,
  definitions: readonly string[],
): Promise<readonly Instance[]> =>
  inCopy(folder, (store) => instancesIn(store, definitions, ["live", "incident"]));

/** The journals of all ended instances of a definition, by their ids. */
export const journalsOf = (
  folder: string,
  definition: string,
): Promise<ReadonlyMap<string, readonly JournalEntry[]>> =>
  inCopy(folder, async (store) => {
    const journals = new Map<string, readonly JournalEntry[]>();
    for (const instance of await instancesIn(store, [definition], ["succeeded", "failed"])) {
      journals.set(instance.id, await readJournal({ store }, instance));
    }
    return journals;
  });

async function instancesIn(
  store: Store,
  definitions: readonly string[],
  phases: readonly Phase[],
): Promise<readonly Instance[]> {
  const found: Instance[] = [];
  const known: Known = new Map();
  for (const id of definitions) {
    for (const phase of phases) {
      for await (const keys of pages(store, phaseView(TENANT, phase, id, 0))) {
        found.push(...(await instancesOf(store, keys, known)));
      }
    }
  }
  return found;
}

/** The rows and due entries of the store, after a kill. */
export async function leftAfter(folder: string): Promise<Left> {
  return withCopy(folder, async (copy) => {
    await openLocalStore({ folder: copy }).close(); // its log is in the database file now
    return leftIn(copy);
  });
}

async function inCopy<T>(folder: string, use: (store: Store) => Promise<T>): Promise<T> {
  return withCopy(folder, async (copy) => {
    const store = openLocalStore({ folder: copy });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  });
}

async function withCopy<T>(folder: string, use: (copy: string) => Promise<T>): Promise<T> {
  const copy = mkdtempSync(join(tmpdir(), "fermata-killed-copy-"));
  try {
    cpSync(folder, copy, { recursive: true });
    return await use(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function* pages(store: Store, view: string): AsyncGenerator<readonly Key[]> {
  let after: string | undefined;
  do {
    const page = await store.list(view, { limit: PAGE, ...(after && { after }) });
    yield page.items;
    after = page.next;
  } while (after !== undefined);
}

/** Definitions by id and hash: the same few for thousands of instances. */
type Known = Map<string, Definition>;

async function instancesOf(
  store: Store,
  keys: readonly Key[],
  known: Known,
): Promise<readonly Instance[]> {
  const items = await store.get(keys);
  const found: Instance[] = [];
  for (const item of items) {
    if (item === undefined) continue;
    const stored = parseStored(item.body);
    const definition = await definitionOf(store, stored.definition, known);
    const about = { id: instanceIdOf(item.key) ?? "", tenant: TENANT, version: item.version };
    found.push(decodeInstance(stored, definition, about));
  }
  return found;
}

async function definitionOf(
  store: Store,
  { id, hash }: Readonly<{ id: string; hash: string }>,
  known: Known,
): Promise<Definition> {
  const found = known.get(`${id} ${hash}`);
  if (found) return found;
  const text = await readParts(store, { pk: definitionPk(TENANT, id), what: "V", hash });
  if (text === undefined) throw new Error(`the definition ${id} is not stored`);
  const definition = parseDefinition(text);
  known.set(`${id} ${hash}`, definition);
  return definition;
}
