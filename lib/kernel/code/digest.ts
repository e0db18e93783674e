/**
 * A rolling digest of an input and a journal: it says what a session has seen, in order. It guards
 * against mix-ups and damage, not against an attacker: whoever can write the journal can write the
 * digest, too.
 */
import type { Json } from "../../definition/json.ts";

/** The digest of a run that begins: of its input, if it has one, and of no entry. */
export const digestOf = (input: Json | undefined): string =>
  hash(input === undefined ? "" : JSON.stringify(input));

/** The digest of a journal that has grown by an entry, which is given as JSON text. */
export const digestAfter = (before: string, entry: string): string => hash(`${before} ${entry}`);

/** A hash of 53 bits with good avalanche (two multiplicative lanes, mixed at the end). */
export function hash(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  high =
    Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low =
    Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return (4_294_967_296 * (0x1f_ffff & low) + (high >>> 0)).toString(36);
}
