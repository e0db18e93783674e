import type { Broadcast } from "./bus.ts";
import type { Message } from "./message.ts";

/** The current message format; a change that an older reader would miss increments it. */
export const MESSAGE_FORMAT = 2;

/**
 * A message as queues outside of this process carry it. `traceparent` (W3C) names its trace, where
 * the transport has no other place for it.
 */
export function messageText(message: Message, traceparent?: string): string {
  return plainText({ ...envelope(traceparent), ...message });
}

/**
 * An accepted broadcast as the bus carries it: for the work queue it is a message as it is, and
 * subscribers of the bus see what was broadcast. The payload stays in the store.
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

/** Escapes two characters that JSON leaves as they are and that queues refuse as invalid XML. */
function plainText(value: object): string {
  return JSON.stringify(value).replace(/[\uFFFE\uFFFF]/g, (character) =>
    character === "\uFFFE" ? "\\ufffe" : "\\uffff",
  );
}
