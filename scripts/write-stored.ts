// Writes one item of every kind, as the current code stores it: run it before a format changes, so
// that later code can be tested with what earlier code wrote.
//
//   node scripts/write-stored.ts

import { writeFileSync } from "node:fs";
import { SimulatedStore } from "../lib/adapters/simulated/store.ts";
import { FORMATS } from "../lib/engine/storage/formats.ts";
import { storeEveryKind, TASKS, WORKFLOWS } from "../test/support/every-kind.ts";
import { HANDLERS } from "../test/support/every-newer-kind.ts";
import { aPlainWorld } from "../test/support/plain-world.ts";
import { readCommandLine } from "./command-line.ts";

readCommandLine(import.meta.filename, {});
const store = new SimulatedStore({});
const world = { store, tasks: TASKS, handlers: HANDLERS, workflows: WORKFLOWS };
await storeEveryKind(aPlainWorld(world));
const items = store
  .items()
  .map(({ body, ...item }) => ({ ...item, body: new TextDecoder().decode(body) }));
const file = `test/fixtures/stored/format-${FORMATS.instance}.json`;
writeFileSync(file, `${JSON.stringify(items, null, 1)}\n`);
console.log(`${items.length} items in ${file}`);
