/**
 * A set of small numbers as text, six to a character, so that thousands of them take little space.
 * Numbers beyond the end of the text are not in the set.
 */

/** Whether a number is in the set. */
export function hasBit(bits: string, n: number): boolean {
  return (sixAt(bits, Math.floor(n / 6)) & (1 << (n % 6))) !== 0;
}

/** The set with this number. */
export function withBit(bits: string, n: number): string {
  const place = Math.floor(n / 6);
  return withSix(bits, place, sixAt(bits, place) | (1 << (n % 6)));
}

/** The set without this number. */
export function withoutBit(bits: string, n: number): string {
  const place = Math.floor(n / 6);
  return withSix(bits, place, sixAt(bits, place) & ~(1 << (n % 6)));
}

/** The numbers below `size` that are not in the set, in order. */
export function gapsIn(bits: string, size: number): readonly number[] {
  const gaps: number[] = [];
  for (let n = 0; n < size; n += 1) if (!hasBit(bits, n)) gaps.push(n);
  return gaps;
}

const DIGITS = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

const sixAt = (bits: string, place: number): number =>
  place < bits.length ? DIGITS.indexOf(bits.charAt(place)) : 0;

function withSix(bits: string, place: number, six: number): string {
  const padded = bits.padEnd(place + 1, DIGITS.charAt(0));
  return `${padded.slice(0, place)}${DIGITS.charAt(six)}${padded.slice(place + 1)}`;
}
