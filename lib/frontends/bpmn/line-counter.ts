/** Finds the line of each tag in turn, in one pass over the source. */
export type LineCounter = Readonly<{
  /** The line on which the next open tag of this name begins. */
  openTag(name: string): number;
  /** Passes over the next section with these brackets; returns the line where it begins. */
  skip(from: string, to: string): number;
  /** The current line. */
  line(): number;
}>;

/**
 * Counts lines beside the parser, whose own count starts from the top at every call. Tags, comments
 * and sections must be announced in the order of the source.
 */
export function lineCounter(source: string): LineCounter {
  let at = 0;
  let line = 1;

  function advanceTo(position: number): void {
    if (position < at) return;
    for (
      let n = source.indexOf("\n", at);
      n !== -1 && n < position;
      n = source.indexOf("\n", n + 1)
    )
      line += 1;
    at = position;
  }

  return {
    openTag(name) {
      advanceTo(source.indexOf(`<${name}`, at));
      const begins = line;
      advanceTo(at + name.length + 1);
      return begins;
    },
    skip(from, to) {
      advanceTo(source.indexOf(from, at));
      const begins = line;
      const end = source.indexOf(to, at + from.length);
      if (end !== -1) advanceTo(end + to.length);
      return begins;
    },
    line: () => line,
  };
}
