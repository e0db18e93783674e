// What every storage of large values must do. An adapter's test calls blobsContract with a way to
// open an empty one.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Blobs } from "../../lib/ports/blobs.ts";

export type OpenedBlobs = Readonly<{
  blobs: Blobs;
  /** The same blobs as another process reads them; absent: they are not persistent. */
  reopen?: () => Promise<Blobs>;
  close(): Promise<void>;
}>;

/** Larger than any part that an adapter may split it into. */
const LARGE_BYTES = 2_500_000;

/** Declares the suite for one adapter. */
export function blobsContract(name: string, open: () => Promise<OpenedBlobs>): void {
  describe(name, () => {
    let opened: OpenedBlobs;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());

    test("returns what was put, byte by byte", async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, n) => n);

      await opened.blobs.put("all-bytes", bytes);

      expect(await opened.blobs.get("all-bytes")).toEqual(bytes);
    });

    test("holds a blob larger than an item of a store, and an empty one", async () => {
      const large = Uint8Array.from({ length: LARGE_BYTES }, (_, n) => n % 251);
      await opened.blobs.put("large", large);
      await opened.blobs.put("empty", new Uint8Array());

      const found = await opened.blobs.get("large");

      expect(found?.length).toBe(LARGE_BYTES);
      expect(Buffer.compare(found ?? new Uint8Array(), large)).toBe(0);
      expect(await opened.blobs.get("empty")).toEqual(new Uint8Array());
    });

    test("has nothing under an unknown name", async () => {
      await opened.blobs.put("values/a", anything);

      expect(await opened.blobs.get("values/b")).toBeUndefined();
      expect(await opened.blobs.get("values")).toBeUndefined();
    });

    test("takes the same blob twice as once", async () => {
      await opened.blobs.put("twice", anything);
      await opened.blobs.put("twice", anything);

      expect(await opened.blobs.get("twice")).toEqual(anything);
    });

    test("keeps its own copy: a caller's later changes do not reach it", async () => {
      const bytes = Uint8Array.of(1, 2, 3);
      await opened.blobs.put("copied", bytes);

      bytes[0] = 9;

      expect(await opened.blobs.get("copied")).toEqual(Uint8Array.of(1, 2, 3));
    });

    test("distinguishes names that look alike", async () => {
      const names = ["v/a/b", "v/a%2Fb", "v/A/b", "v/a#b", "v/ä"];
      for (const [n, each] of names.entries()) await opened.blobs.put(each, Uint8Array.of(n));

      for (const [n, each] of names.entries()) {
        expect(await opened.blobs.get(each)).toEqual(Uint8Array.of(n));
      }
    });

    test("still has an expiring blob for as long as ended instances are kept", async () => {
      await opened.blobs.put("ending", anything);

      await opened.blobs.expire("ending");
      await opened.blobs.expire("ending");

      expect(await opened.blobs.get("ending")).toEqual(anything);
    });

    test("ignores the expiry of an unknown name", async () => {
      await opened.blobs.expire("nobody");

      expect(await opened.blobs.get("nobody")).toBeUndefined();
    });

    test("has nothing under a removed name, until it is put again", async () => {
      await opened.blobs.put("removed", new Uint8Array(LARGE_BYTES));
      await opened.blobs.put("other", anything);

      await opened.blobs.remove("removed");
      await opened.blobs.remove("removed");
      await opened.blobs.remove("nobody");

      expect(await opened.blobs.get("removed")).toBeUndefined();
      expect(await opened.blobs.get("other")).toEqual(anything);
      await opened.blobs.put("removed", anything);
      expect(await opened.blobs.get("removed")).toEqual(anything);
    });

    test("has stored what it has acknowledged", async () => {
      await opened.blobs.put("durable", anything);

      const again = (await opened.reopen?.()) ?? opened.blobs;

      expect(await again.get("durable")).toEqual(anything);
    });
  });
}

const anything = Uint8Array.of(7, 0, 255);
