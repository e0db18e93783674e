import { describe, expect, test } from "vitest";
import { type BlobsFault, SimulatedBlobs } from "../../lib/adapters/simulated/blobs.ts";
import { blobsContract } from "./blobs.contract.ts";

blobsContract("the simulated blobs", async () => {
  return { blobs: new SimulatedBlobs(), close: async () => {} };
});

describe("a simulated put that fails", () => {
  test.each<[BlobsFault["fault"], boolean]>([
    ["refused", false],
    ["unanswered", true],
  ])("because it was %s is retryable", async (fault, isThere) => {
    const blobs = new SimulatedBlobs({
      turn: async (point) => (point === "put:before" ? { fault } : undefined),
    });

    const put = blobs.put("a", Uint8Array.of(1));

    await expect(put).rejects.toMatchObject({ code: "blobs/put-failed", retryable: true });
    expect((await blobs.get("a")) !== undefined).toBe(isThere);
  });
});
