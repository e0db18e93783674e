import { randomUUID } from "node:crypto";
import {
  CreateBucketCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { afterAll, describe, expect, test } from "vitest";
import { S3Blobs } from "../../lib/adapters/s3/blobs.ts";
import type { Usage } from "../../lib/ports/meter.ts";
import { blobsContract } from "../contract/blobs.contract.ts";
import { emulated } from "../support/emulator.ts";

const client = new S3Client({ ...emulated(), forcePathStyle: true });
afterAll(() => client.destroy());

blobsContract("blobs in S3", async () => {
  const bucket = await createBucket();
  return {
    blobs: new S3Blobs({ client, bucket }),
    reopen: async () => new S3Blobs({ client, bucket }),
    close: async () => {},
  };
});

describe("an object that is to expire", () => {
  test("has the tag that the bucket's lifecycle rule selects", async () => {
    const bucket = await createBucket();
    const blobs = new S3Blobs({ client, bucket });
    await blobs.put("values/ä b", Uint8Array.of(1));
    expect(await tagsOf(bucket, "values/ä b")).toEqual([]);

    await blobs.expire("values/ä b");

    expect(await tagsOf(bucket, "values/ä b")).toEqual([{ Key: "fermata", Value: "ended" }]);
  });
});

describe("blobs in S3", () => {
  test("are checked by the service, byte by byte", async () => {
    const bucket = await createBucket();
    await new S3Blobs({ client, bucket }).put("values/a", Uint8Array.of(1));

    const { ChecksumSHA256 } = await client.send(
      new HeadObjectCommand({ Bucket: bucket, Key: "values/a", ChecksumMode: "ENABLED" }),
    );

    expect(ChecksumSHA256).toBe("S/USLzRFVMU73i67jNK349FgCtYxw4Wl18ziPHeFRZo=");
  });

  test("report the requests that they used", async () => {
    const used: Usage[] = [];
    const bucket = await createBucket();
    const blobs = new S3Blobs({ client, bucket, meter: (usage) => used.push(usage) });
    await blobs.put("a", new Uint8Array(100));
    await blobs.get("a");
    await blobs.expire("a");

    expect(used).toEqual([
      { of: "s3-put", requests: 1, bytes: 100 },
      { of: "s3-get", requests: 1, bytes: 100 },
      { of: "s3-put", requests: 1, bytes: 0 },
    ]);
  });

  test("report which bucket did not respond, as a retryable error", async () => {
    const blobs = new S3Blobs({ client, bucket: "no-such-bucket" });

    await expect(blobs.put("a", Uint8Array.of(1))).rejects.toMatchObject({
      code: "blobs/put-failed",
      retryable: true,
      message: expect.stringContaining("no-such-bucket"),
    });
    await expect(blobs.get("a")).rejects.toMatchObject({ code: "blobs/read-failed" });
  });
});

async function createBucket(): Promise<string> {
  const bucket = `blobs-${randomUUID()}`;
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return bucket;
}

async function tagsOf(bucket: string, name: string) {
  const tagging = new GetObjectTaggingCommand({ Bucket: bucket, Key: name });
  return (await client.send(tagging)).TagSet;
}
