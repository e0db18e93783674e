import { MAX_MESSAGE_LENGTH } from "../definition/limits.ts";

/** The outcome of a failed attempt; its message is cut to the length that an instance keeps. */
export function failed(message: string) {
  const isLong = message.length > MAX_MESSAGE_LENGTH;
  const text = isLong ? `${message.slice(0, MAX_MESSAGE_LENGTH - 1)}…` : message;
  return { kind: "failed", message: text } as const;
}
