import type { MessageAnswer } from "../lib/client/index.ts";

/** Describes in words where a message went; `ttl` is its time to live. */
export function describeMessageAnswer(
  { outcome, instanceId }: Pick<MessageAnswer, "outcome" | "instanceId">,
  ttl = "PT1H",
): string {
  const who = instanceId === undefined ? "" : ` ${instanceId}`;
  switch (outcome) {
    case "delivered":
      return who === "" ? "delivered." : `delivered to${who}.`;
    case "started":
      return `started${who}.`;
    case "buffered":
      return isZero(ttl)
        ? "not delivered yet: the waiting instance is busy and takes it in a moment."
        : `kept for ${ttl}: no instance waits for it yet, or the waiting instance is busy and takes it in a moment.`;
    case "duplicate":
      return "duplicate: a message with this id was accepted before.";
  }
}

/** A message with a time to live of zero is for an instance that waits now. */
const isZero = (duration: string): boolean => !/[1-9]/.test(duration);
