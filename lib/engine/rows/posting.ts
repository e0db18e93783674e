import type { CarriedStart, Post } from "../../ports/message.ts";
import {
  type Address,
  type Mailbox,
  remembers,
  withId,
  withMessage,
  withoutTarget,
} from "./mailbox.ts";

/** A change to one mailbox that belongs to a step; undefined: it has no place there any more. */
export type Posting = Readonly<{
  address: Address;
  change: (mailbox: Mailbox, version: number) => Mailbox | undefined;
}>;

/** Puts a message into its mailbox, where the wait that the step looks after will find it. */
export const postingMessage = ({ address, message, id }: Post): Posting => ({
  address,
  change: (mailbox) =>
    remembers(mailbox, message.mid) ? undefined : withMessage(mailbox, message, id),
});

/**
 * Uses up the message that begins an instance. It may do so only while nobody has begun to wait
 * since the start was decided, or where the mailbox keeps the message for this very start.
 */
export function postingOf({ mail, definition }: CarriedStart): Posting | undefined {
  if (mail === undefined) return undefined;
  const { name, key, id, base } = mail;
  const { mid: messageId } = id;
  const target = { definitionId: definition.id };
  return {
    address: { name, key },
    change: (mailbox, version) => {
      if (base === undefined) return takenFrom(mailbox, messageId, target.definitionId);
      const isAsItWas = version === base && !remembers(mailbox, messageId);
      return isAsItWas ? withId(mailbox, id) : undefined;
    },
  };
}

function takenFrom(mailbox: Mailbox, mid: string, definitionId: string): Mailbox | undefined {
  const isKept = mailbox.bufs.some(
    (message) =>
      message.mid === mid &&
      message.for?.some((it) => "definitionId" in it && it.definitionId === definitionId),
  );
  return isKept ? withoutTarget(mailbox, mid, { definitionId }, true) : undefined;
}
