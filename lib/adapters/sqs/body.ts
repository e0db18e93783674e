import { createHash } from "node:crypto";
import { MAX_QUEUED_BODY_BYTES } from "../../definition/limits.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Message } from "../../ports/message.ts";
import { messageText } from "../../ports/message-text.ts";
import { parseText, referenceText, type SignalRequest, unreadable } from "./wire.ts";

/** The body of a queued message: its text, or the name of the blob that holds it. */
export async function packMessage(message: Message, blobs: Blobs): Promise<string> {
  const text = messageText(message);
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= MAX_QUEUED_BODY_BYTES) return text;
  const name = `messages/${createHash("sha256").update(bytes).digest("hex")}`;
  await blobs.put(name, bytes);
  return referenceText(name);
}

/** The message of a body; throws `message/unreadable` or `message/format-too-new`. */
export async function unpackMessage(text: string, blobs: Blobs): Promise<Message | SignalRequest> {
  const parsed = parseText(text);
  if (parsed.kind !== "reference") return parsed;
  const bytes = await blobs.get(parsed.ref);
  if (bytes === undefined) throw unreadable(text, "what it refers to is gone");
  const kept = parseText(Buffer.from(bytes).toString());
  if (kept.kind === "reference") throw unreadable(text, "it refers to another reference");
  return kept;
}
