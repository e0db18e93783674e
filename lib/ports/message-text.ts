import type { Broadcast } from "./bus.ts";
import type { Message } from "./message.ts";

/** How messages are written at present; a change that an older reader would miss counts it up. */
export const MESSAGE_FORMAT = 1;

/** A message as queues outside of this process carry it. */
export function messageText(message: Message): string {
  return plainText({ v: MESSAGE_FORMAT, ...message });
}

/**
 * An accepted broadcast as the bus carries it: to those who fan out it is their message as it
 * stands, and outsiders that listen learn what it was. The payload stays in the store.
 */
export function broadcastText({ tenant, broadcastId, topic, seq, at }: Broadcast): string {
  const about = { id: broadcastId, tenant, broadcastId, topic, seq, at };
  return plainText({ v: MESSAGE_FORMAT, kind: "broadcast", ...about });
}

/** Two characters that JSON leaves as they are, and that queues refuse as no XML could hold them. */
function plainText(value: object): string {
  return JSON.stringify(value).replace(/[\uFFFE\uFFFF]/g, (character) =>
    character === "\uFFFE" ? "\\ufffe" : "\\uffff",
  );
}
