import type { MessageAnswer } from "../lib/client/index.ts";

/** Says in words where a message went; `ttl` is how long it was to be kept. */
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
        ? "not taken yet: who waits for it is busy, and takes it in a moment."
        : `not taken yet: nobody waits for it, or who does is busy and takes it in a moment. It is kept for ${ttl}.`;
    case "duplicate":
      return "this id was taken before; nothing was done.";
  }
}

/** A message that is for nobody later is kept only for who waits at this moment. */
const isZero = (duration: string): boolean => !/[1-9]/.test(duration);
