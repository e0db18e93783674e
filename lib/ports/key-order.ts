/** Compares as the UTF-8 bytes would: JavaScript's own order puts surrogate pairs before U+E000. */
export function compareByUtf8(a: string, b: string): number {
  if (a === b) return 0;
  const shorter = Math.min(a.length, b.length);
  for (let n = 0; n < shorter; n++) {
    const [left, right] = [a.charCodeAt(n), b.charCodeAt(n)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Half of a surrogate pair stands for a character above all others of one unit. */
function rank(unit: number): number {
  const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
  return isSurrogate ? unit + 0x10000 : unit;
}
