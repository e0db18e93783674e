/** From a column of a bundle on, the text comes from this place; everything counts from 0. */
export type Segment = Readonly<{
  column: number;
  source: number;
  line: number;
  sourceColumn: number;
}>;

/** The segments of each line, by column. What is malformed is left out; never throws. */
export function decodeMappings(mappings: string): readonly (readonly Segment[])[] {
  const at = { source: 0, line: 0, sourceColumn: 0 };
  return mappings.split(";").map((line) => {
    let column = 0;
    const segments: Segment[] = [];
    for (const text of line === "" ? [] : line.split(",")) {
      const [toColumn, toSource, toLine, toSourceColumn] = decodeNumbers(text);
      column += toColumn ?? 0;
      if (toSource === undefined || toLine === undefined || toSourceColumn === undefined) continue;
      at.source += toSource;
      at.line += toLine;
      at.sourceColumn += toSourceColumn;
      if (isPlace(column, at)) segments.push({ column, ...at });
    }
    return isInOrder(segments) ? segments : segments.toSorted((a, b) => a.column - b.column);
  });
}

/** Negative places do not exist; a damaged map may name them. */
function isPlace(column: number, { source, line, sourceColumn }: Omit<Segment, "column">): boolean {
  return column >= 0 && source >= 0 && line >= 0 && sourceColumn >= 0;
}

function isInOrder(segments: readonly Segment[]): boolean {
  return segments.every(({ column }, at) => at === 0 || (segments[at - 1]?.column ?? 0) <= column);
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Map([...ALPHABET].map((letter, value) => [letter, value]));

/** Base 64 VLQ: five bits a letter, lowest first; the sign is the lowest bit of the number. */
function decodeNumbers(text: string): readonly number[] {
  const numbers: number[] = [];
  let number = 0;
  let shift = 0;
  for (const letter of text) {
    const value = VALUES.get(letter);
    if (value === undefined || shift > 30) return [];
    number |= (value & 31) << shift;
    shift += 5;
    if ((value & 32) !== 0) continue;
    numbers.push((number & 1) === 1 ? -(number >>> 1) : number >>> 1);
    number = 0;
    shift = 0;
  }
  return numbers;
}
