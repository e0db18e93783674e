import { hash, randomUUID } from "node:crypto";
import type { Ids } from "../../ports/ids.ts";

/** Random ids, and digests of 128 bits: 22 characters that are safe in URLs and file names. */
export function nodeIds(): Ids {
  return {
    fresh: () => randomUUID(),
    digest: (text) => hash("sha256", text, "buffer").subarray(0, 16).toString("base64url"),
  };
}
