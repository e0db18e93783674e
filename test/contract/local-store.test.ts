import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLocalStore } from "../../lib/adapters/local/store.ts";
import { storeContract } from "./store.contract.ts";

storeContract("the local store", openEmpty, { inCallOrder: true });

async function openEmpty() {
  const folder = mkdtempSync(join(tmpdir(), "fermata-store-"));
  const store = openLocalStore({ folder });
  return {
    store,
    async close() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}
