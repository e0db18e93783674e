// A program that owns the given data folder until it is killed. Prints "held" once it does.

import { openLocalStore } from "../../lib/adapters/local/store.ts";

const [, , folder = ""] = process.argv;
const store = openLocalStore({ folder });
const item = { key: { pk: "p", sk: "held" }, version: 1, body: new Uint8Array(0) };
await store.commit([{ put: item, when: "absent" }]);
process.stdout.write("held\n");
setInterval(() => store.reads, 1_000);
