import type { Broadcast } from "./bus.ts";
import type { Message } from "./message.ts";

/** How messages are written at present; a change that an older reader would miss counts it up. */
export const MESSAGE_FORMAT = 2;

/**
 * A message as queues outside of this process carry it. `traceparent` says beside it which trace it
 * belongs to (W3C), where the road has no other place for that.
 */
export function messageText(message: Message, traceparent?: string): string {
  return plainText({ ...envelope(traceparent), ...message });
}

/**
 * An accepted broadcast as the bus carries it: to those who fan out it is their message as it
 * stands, and outsiders that listen learn what it was. The payload stays in the store.
 */
export function broadcastText(
  { tenant, broadcastId, topic, seq, at }: Broadcast,
  traceparent?: string,
): string {
  const about = { id: broadcastId, tenant, broadcastId, topic, seq, at };
  return plainText({ ...envelope(traceparent), kind: "broadcast", ...about });
}

const envelope = (traceparent: string | undefined) => ({
  v: MESSAGE_FORMAT,
  ...(traceparent !== undefined && { traceparent }),
});

/** Two characters that JSON leaves as they are, and that queues refuse as no XML could hold them. */
function plainText(value: object): string {
  return JSON.stringify(value).replace(/[\uFFFE\uFFFF]/g, (character) =>
    character === "\uFFFE" ? "\\ufffe" : "\\uffff",
  );
}
