import { type Attributes, keyAttributes, toAttributes } from "../adapters/dynamodb/attributes.ts";
import { Metering } from "../adapters/dynamodb/metering.ts";
import type { Item, Key, Store, Write } from "../ports/store.ts";
import { keyOf } from "../ports/store-rules.ts";
import type { Ledger, Purpose } from "./ledger.ts";

/** A store whose calls are charged like those of the table, by the same rules. */
export function meteredStore(store: Store, ledger: Ledger): Store {
  let purpose: Purpose | undefined;
  const metering = new Metering((usage) => ledger.spend(usage, purpose));
  return {
    get: async (keys, how) => {
      const items = await store.get(keys, how);
      ledger.take("read");
      metering.got(keys, items.map(rowOf), how);
      return items;
    },
    commit: async (writes) => {
      const [before] = await store.get(writes.slice(0, 1).map(keyOf));
      const outcome = await store.commit(writes);
      ledger.take(writes.length > 1 ? "transaction" : "write");
      purpose = purposeOf(writes);
      const isLost = outcome.kind !== "committed" || isLosing(writes[0], before);
      if (isLost) metering.failed(writes, outcome);
      else if (writes.length > 1 || "expect" in writes[0]) metering.wroteTogether(writes);
      else metering.wrote(writes[0], rowOf(before));
      purpose = undefined;
      return outcome;
    },
    scan: async (pk, range) => {
      const page = await store.scan(pk, range);
      ledger.take("query");
      metering.scanned(page.items.map(toAttributes));
      return page;
    },
    due: async (...asked) => {
      const page = await store.due(...asked);
      ledger.take("query");
      metering.queried("due", page.items.map(keyAttributes));
      return page;
    },
    list: async (view, range) => {
      const page = await store.list(view, range);
      ledger.take("query");
      metering.queried("listing", page.items.map(keyAttributes));
      return page;
    },
    tidy: async (hints) => {
      await store.tidy(hints);
      ledger.take("write");
      metering.removed(hints);
    },
    close: () => store.close(),
  };
}

function rowOf(item: Item | undefined): Attributes | undefined {
  return item && toAttributes(item);
}

/** A hint that is not newer than the stored item changes nothing, and is charged like a refusal. */
function isLosing(write: Write, before: Item | undefined): boolean {
  return write.when === "newer" && "put" in write && (before?.version ?? -1) >= write.put.version;
}

/** Chunks of the trail count as history, whichever step writes them. */
function purposeOf([first]: readonly Write[]): Purpose | undefined {
  return first !== undefined && isChunk(keyOf(first)) ? "history" : undefined;
}

const isChunk = ({ sk }: Key): boolean => sk.startsWith("T#");
