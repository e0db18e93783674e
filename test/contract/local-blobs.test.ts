import { describe, expect, test } from "vitest";
import { storedBlobs } from "../../lib/adapters/local/blobs.ts";
import { openLocalStore } from "../../lib/adapters/local/store.ts";
import { aDataDir } from "../support/embedded.ts";
import { ManualTime } from "../support/manual-time.ts";
import { blobsContract } from "./blobs.contract.ts";

const DAY_MS = 86_400_000;

blobsContract("blobs of the embedded store", async () => {
  const folder = aDataDir();
  const clock = new ManualTime();
  let store = openLocalStore({ folder });
  return {
    blobs: storedBlobs({ store, clock, retentionMs: DAY_MS }),
    reopen: async () => {
      await store.close();
      store = openLocalStore({ folder });
      return storedBlobs({ store, clock, retentionMs: DAY_MS });
    },
    close: () => store.close(),
  };
});

describe("a blob of the embedded store", () => {
  test("is gone, for readers and from the disk, once ended instances are", async () => {
    const store = openLocalStore({ folder: aDataDir() });
    const clock = new ManualTime();
    const blobs = storedBlobs({ store, clock, retentionMs: DAY_MS });
    await blobs.put("ending", new Uint8Array(700_000));
    await blobs.put("kept", Uint8Array.of(1));
    await blobs.expire("ending");

    clock.jump(DAY_MS);

    expect(await blobs.get("ending")).toBeUndefined();
    expect(store.purgeExpired(clock.now(), 100)).toBe(4); // three parts and their head
    expect(await blobs.get("kept")).toEqual(Uint8Array.of(1));
    await store.close();
  });

  test("gets a new retention when it is put again, although it was to expire", async () => {
    const store = openLocalStore({ folder: aDataDir() });
    const clock = new ManualTime();
    const blobs = storedBlobs({ store, clock, retentionMs: DAY_MS });
    const bytes = new Uint8Array(700_000);
    await blobs.put("again", bytes);
    await blobs.expire("again");
    clock.jump(DAY_MS);

    await blobs.put("again", bytes);

    expect(store.purgeExpired(clock.now(), 100)).toBe(0);
    expect(await blobs.get("again")).toEqual(bytes);
    await store.close();
  });

  test("that was half written does not exist, and does once it is put again", async () => {
    const store = openLocalStore({ folder: aDataDir() });
    const commits: string[] = [];
    const dying: Pick<typeof store, "get" | "commit"> = {
      get: (keys) => store.get(keys),
      commit: async (writes) => {
        commits.push("put");
        if (commits.length === 2) throw new Error("killed");
        return store.commit(writes);
      },
    };
    const about = { clock: new ManualTime(), retentionMs: DAY_MS };
    const bytes = new Uint8Array(700_000).fill(5);
    await expect(storedBlobs({ store: dying, ...about }).put("torn", bytes)).rejects.toThrow();
    const blobs = storedBlobs({ store, ...about });

    const before = await blobs.get("torn");
    await blobs.put("torn", bytes);

    expect(before).toBeUndefined();
    expect(await blobs.get("torn")).toEqual(bytes);
    await store.close();
  });
});
