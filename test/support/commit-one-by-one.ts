// A program that makes this many commits in the given folder, each after the previous one was
// acknowledged, and prints how many were.

import { openLocalStore } from "../../lib/adapters/local/store.ts";

const [, , folder = "", count = "0"] = process.argv;
const store = openLocalStore({ folder });
const body = new Uint8Array(700);
let acknowledged = 0;
for (let n = 0; n < Number(count); n++) {
  const item = { key: { pk: "default#I#durable", sk: "S" }, version: n + 1, body };
  const { kind } = await store.commit([{ put: item, when: n === 0 ? "absent" : { version: n } }]);
  if (kind === "committed") acknowledged += 1;
}
await store.close();
process.stdout.write(`${acknowledged}\n`);
