/** Stored mailboxes. Waits and messages change one under its version, so they meet in one order. */
import {
  type Address,
  emptyBox,
  endOf,
  hasTaker,
  type Mailbox,
  pruned,
  rememberedAs,
  takenFrom,
  withId,
  withMessage,
} from "../../kernel/mailbox.ts";
import type { CarriedStart, Post } from "../../ports/message.ts";
import type { Item, Write } from "../../ports/store.ts";
import { encodeBody, parserOf } from "../storage/formats.ts";
import { AT_ONCE, mailboxKey } from "../storage/keys.ts";
import type { World } from "../world.ts";

export type ReadMailbox = Readonly<{ version: number; mailbox: Mailbox }>;

export async function readMailbox(world: World, address: Address): Promise<ReadMailbox> {
  const [item] = await world.store.get([keyOf(world, address)]);
  // An expired mailbox is empty, but its version still counts.
  const isOver = item?.expiresAt !== undefined && item.expiresAt <= world.clock.now();
  return {
    version: item?.version ?? 0,
    mailbox: item === undefined || isOver ? emptyBox(address) : parseMailbox(item.body),
  };
}

/** The name of a mailbox inside this process. */
export const boxName = ({ name, key }: Address): string => `${name}\0${key}`;

/** The item of a changed mailbox, without what has expired. */
export function mailboxItem(world: World, mailbox: Mailbox, version: number): Item {
  const now = world.clock.now();
  const kept = pruned(mailbox, now);
  const expiresAt = endOf(kept, now);
  return {
    key: keyOf(world, mailbox.address),
    version,
    body: encodeBody("mailbox", kept),
    // If no queue brings the message to its taker, the due index does.
    ...(hasTaker(kept) && { lookAt: world.settings.host.queuesSurvive ? now : AT_ONCE }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

/** Writes a changed mailbox in the place of the version that was read; 0: where none was. */
export const mailboxWrite = (world: World, mailbox: Mailbox, version: number): Write => ({
  put: mailboxItem(world, mailbox, version + 1),
  when: version === 0 ? "absent" : { version },
});

export const parseMailbox = parserOf<Mailbox>("mailbox");

/** A change to one mailbox that belongs to a step; undefined: it has no place there any more. */
export type Posting = Readonly<{
  address: Address;
  change: (mailbox: Mailbox, version: number) => Mailbox | undefined;
}>;

/** Puts a message into its mailbox, where the wait that the step re-checks will find it. */
export const postingMessage = ({ address, message, id }: Post): Posting => ({
  address,
  change: (mailbox) =>
    rememberedAs(mailbox, message.mid) ? undefined : withMessage(mailbox, message, id),
});

/**
 * Uses up the message that starts an instance. It may do so only while no wait has opened since the
 * start was decided, or where the mailbox keeps the message for this very start.
 */
export function postingOf({ mail, definition }: CarriedStart): Posting | undefined {
  if (mail === undefined) return undefined;
  const { name, key, id, base } = mail;
  return {
    address: { name, key },
    change: (mailbox, version) => {
      if (base === undefined) return takenFrom(mailbox, id.mid, definition.id);
      const isAsItWas = version === base && !rememberedAs(mailbox, id.mid);
      return isAsItWas ? withId(mailbox, id) : undefined;
    },
  };
}

const keyOf = (world: World, { name, key }: Address) =>
  mailboxKey(world.settings.tenant, name, key);
