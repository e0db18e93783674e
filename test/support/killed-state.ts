// What a kill left behind, read from a copy: the folder itself stays as it was found, so that the
// next life has everything to recover.

import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLocalStore } from "../../lib/adapters/local/store.ts";
import { decodeInstance, parseStored } from "../../lib/engine/codec.ts";
import {
  definitionPk,
  instanceIdOf,
  PHASES,
  type Phase,
  phaseView,
} from "../../lib/engine/keys.ts";
import { readParts } from "../../lib/engine/parts.ts";
import { parseDefinition } from "../../lib/engine/programs.ts";
import type { Instance } from "../../lib/kernel/instance.ts";
import type { Key, Store } from "../../lib/ports/store.ts";

const TENANT = "default";
const PAGE = 100;

/** The live instances of these definitions, as the store holds them. */
export async function liveInstances(
  folder: string,
  definitions: readonly string[],
): Promise<readonly Instance[]> {
  const live: readonly Phase[] = PHASES.filter((it) => it === "live" || it === "incident");
  return inCopy(folder, async (store) => {
    const found: Instance[] = [];
    for (const id of definitions) {
      for (const phase of live) {
        for await (const keys of pages(store, phaseView(TENANT, phase, id))) {
          found.push(...(await instancesOf(store, keys)));
        }
      }
    }
    return found;
  });
}

async function inCopy<T>(folder: string, use: (store: Store) => Promise<T>): Promise<T> {
  const copy = mkdtempSync(join(tmpdir(), "fermata-killed-copy-"));
  try {
    cpSync(folder, copy, { recursive: true });
    const store = openLocalStore({ folder: copy });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
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

async function instancesOf(store: Store, keys: readonly Key[]): Promise<readonly Instance[]> {
  const items = await store.get(keys);
  const found: Instance[] = [];
  for (const item of items) {
    if (item === undefined) continue;
    const stored = parseStored(item.body);
    const { id, hash } = stored.definition;
    const text = await readParts(store, definitionPk(TENANT, id), "V", hash);
    if (text === undefined) throw new Error(`the definition ${id} is not stored`);
    const about = { id: instanceIdOf(item.key) ?? "", tenant: TENANT, version: item.version };
    found.push(decodeInstance(stored, parseDefinition(text), about));
  }
  return found;
}
