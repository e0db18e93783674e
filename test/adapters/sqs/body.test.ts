import { describe, expect, test } from "vitest";
import { packMessage, unpackMessage } from "../../../lib/adapters/sqs/body.ts";
import { MAX_QUEUED_BODY_BYTES } from "../../../lib/definition/limits.ts";
import type { ParkedMessage } from "../../../lib/ports/message.ts";
import { messageText } from "../../../lib/ports/message-text.ts";

describe("the body of a message", () => {
  test("is its text if that is short enough, to the byte", async () => {
    const blobs = inMemory();
    const message = ofBytes(MAX_QUEUED_BODY_BYTES);

    const body = await packMessage(message, blobs);

    expect(Buffer.byteLength(body)).toBe(MAX_QUEUED_BODY_BYTES);
    expect(blobs.names()).toEqual([]);
    expect(await unpackMessage(body, blobs)).toEqual(message);
  });

  test("is a reference when it is a byte too long", async () => {
    const blobs = inMemory();
    const message = ofBytes(MAX_QUEUED_BODY_BYTES + 1);

    const body = await packMessage(message, blobs);

    expect(body).toMatch(/^\{"v":2,"ref":"messages\/[0-9a-f]{64}"\}$/);
    expect(await unpackMessage(body, blobs)).toEqual(message);
  });

  test("is stored once, however often it is sent", async () => {
    const blobs = inMemory();
    const message = ofBytes(MAX_QUEUED_BODY_BYTES + 1);

    await packMessage(message, blobs);
    await packMessage(message, blobs);

    expect(blobs.names()).toHaveLength(1);
  });

  test("is unreadable when its reference points to nothing, or to another reference", async () => {
    const blobs = inMemory();
    const reference = '{"v":1,"ref":"messages/a"}';

    await expect(unpackMessage(reference, blobs)).rejects.toMatchObject({
      code: "message/unreadable",
    });
    await blobs.put("messages/a", Buffer.from(reference));
    await expect(unpackMessage(reference, blobs)).rejects.toMatchObject({
      code: "message/unreadable",
    });
  });
});

/** A message whose text has exactly so many bytes. */
function ofBytes(bytes: number): ParkedMessage {
  const empty = aParked("");
  return aParked("ä".repeat(10) + "x".repeat(bytes - Buffer.byteLength(messageText(empty)) - 20));
}

function aParked(text: string): ParkedMessage {
  const fact = { kind: "task-completed", ticket: "k1.1", variables: { text } } as const;
  return { kind: "parked", tenant: "default", instanceId: "order-1", name: "k1.1", fact };
}

function inMemory() {
  const kept = new Map<string, Uint8Array>();
  return {
    put: async (name: string, bytes: Uint8Array) => void kept.set(name, bytes),
    get: async (name: string) => kept.get(name),
    expire: async () => {},
    remove: async () => {},
    names: () => [...kept.keys()],
  };
}
