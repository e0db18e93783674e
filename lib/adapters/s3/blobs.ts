import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import type { Blobs } from "../../ports/blobs.ts";
import { EngineError, type ErrorCode } from "../../ports/engine-error.ts";
import type { Meter } from "../../ports/meter.ts";

type Options = Readonly<{ client: S3Client; bucket: string; meter?: Meter }>;

/** The tag that the bucket's lifecycle rule matches: tagged objects are deleted after the retention. */
const ENDED = "fermata=ended";

/** Large values as objects of a bucket. */
export class S3Blobs implements Blobs {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Overwrites an equal object, and thereby removes its expiry tag. */
  async put(name: string, bytes: Uint8Array): Promise<void> {
    const { client, bucket, meter } = this.#options;
    const object = { Bucket: bucket, Key: name, Body: bytes, ChecksumAlgorithm: "SHA256" } as const;
    try {
      await client.send(new PutObjectCommand(object));
    } catch (cause) {
      throw failed("blobs/put-failed", "A large value was not saved", { bucket, name, cause });
    }
    meter?.({ of: "s3-put", requests: 1, bytes: bytes.byteLength });
  }

  async get(name: string): Promise<Uint8Array | undefined> {
    const { client, bucket, meter } = this.#options;
    try {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: name }));
      const bytes = await Body?.transformToByteArray();
      meter?.({ of: "s3-get", requests: 1, bytes: bytes?.byteLength ?? 0 });
      return bytes;
    } catch (cause) {
      if (cause instanceof NoSuchKey) return undefined;
      throw failed("blobs/read-failed", "A large value could not be read", { bucket, name, cause });
    }
  }

  /** Copied onto itself: the retention counts from now on, not from the put. */
  async expire(name: string): Promise<void> {
    const { client, bucket, meter } = this.#options;
    const copy = new CopyObjectCommand({
      Bucket: bucket,
      Key: name,
      CopySource: `${bucket}/${name.split("/").map(encodeURIComponent).join("/")}`,
      MetadataDirective: "REPLACE",
      TaggingDirective: "REPLACE",
      Tagging: ENDED,
    });
    try {
      await client.send(copy);
    } catch (cause) {
      if (isMissing(cause)) return;
      throw failed("blobs/put-failed", "A large value was not marked", { bucket, name, cause });
    }
    meter?.({ of: "s3-put", requests: 1, bytes: 0 });
  }

  async remove(name: string): Promise<void> {
    const { client, bucket } = this.#options;
    try {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: name }));
    } catch (cause) {
      throw failed("blobs/put-failed", "A large value was not removed", { bucket, name, cause });
    }
  }
}

/** Copying declares no such error, so it has no class. */
function isMissing(cause: unknown): boolean {
  return cause instanceof Error && cause.name === "NoSuchKey";
}

function failed(
  code: ErrorCode,
  happened: string,
  { bucket, name, cause }: Readonly<{ bucket: string; name: string; cause: unknown }>,
): EngineError {
  const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  return new EngineError(code, {
    happened,
    where: `bucket ${bucket}, object ${name}; ${reason}`,
    fix: "What needed it is repeated. If this goes on, look at the bucket's policy and at the function's permissions.",
    cause,
  });
}
