import type { Item } from "../../ports/store.ts";

/**
 * What a store that bills by the byte counts of an item besides its body: keys, places in indexes,
 * and the names of all these. Never less than it is, and at most a few bytes more.
 */
export function billedBesides({ key, lookAt, listed, expiresAt }: Omit<Item, "body">): number {
  const keys = Buffer.byteLength(key.pk) + Buffer.byteLength(key.sk);
  const due = lookAt === undefined ? 0 : keys + DUE_BYTES;
  const shown = listed
    ? Buffer.byteLength(listed.view) + Buffer.byteLength(listed.order) + LISTED_BYTES
    : 0;
  return keys + OWN_BYTES + due + shown + (expiresAt === undefined ? 0 : EXPIRY_BYTES);
}

/** Names and numbers: of the key, the version and the body; of the places; of the two expiries. */
const OWN_BYTES = 16;
const DUE_BYTES = 48;
const LISTED_BYTES = 12;
const EXPIRY_BYTES = 24;
