import { isWithin, type Span } from "../frontends/code/syntax/tree.ts";

/** A change of a text: either a place is emptied, or something is put in at an offset. */
export type Edit = Readonly<
  | { kind: "blank"; span: Span; leave: "nothing" | "statement" | "undefined" }
  | { kind: "insert"; at: number; text: string }
>;

/**
 * Applies changes to a text. What is blanked keeps its length and its lines, so every character
 * outside keeps its place; an insertion moves only what follows it in its own line.
 */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const blanks = outermost(edits.filter((edit) => edit.kind === "blank"));
  const inserts = edits
    .filter((edit) => edit.kind === "insert")
    .filter(({ at }) => !blanks.some(({ span }) => span.start < at && at < span.end));
  const pieces = [
    ...blanks.map(({ span, leave }) => ({ ...span, text: blanked(textAt(text, span), leave) })),
    ...inserts.map((insert) => ({ start: insert.at, end: insert.at, text: insert.text })),
  ].toSorted((a, b) => a.start - b.start || a.end - b.end);
  let result = "";
  let done = 0;
  for (const piece of pieces) {
    result += text.slice(done, piece.start) + piece.text;
    done = piece.end;
  }
  return result + text.slice(done);
}

/** The text of a place. */
export function textAt(text: string, { start, end }: Span): string {
  return text.slice(start, end);
}

type Blank = Extract<Edit, { kind: "blank" }>;

/** A place within another is blanked with it. */
function outermost(blanks: readonly Blank[]): readonly Blank[] {
  const largestFirst = blanks.toSorted(
    (a, b) => a.span.start - b.span.start || b.span.end - a.span.end,
  );
  const kept: Blank[] = [];
  for (const blank of largestFirst) {
    const last = kept.at(-1);
    if (last === undefined || !isWithin(blank.span, last.span)) kept.push(blank);
  }
  return kept;
}

/** Spaces and line ends in place of a text, with the shortest valid code that may stand there. */
function blanked(text: string, leave: Blank["leave"]): string {
  const empty = text.replace(/[^\n\r\u2028\u2029]/g, " ");
  switch (leave) {
    case "nothing":
      return empty;
    case "statement":
      // Without it, the lines before and after could become one statement.
      return empty.replace(" ", ";");
    case "undefined":
      return empty.includes(" ".repeat(6))
        ? empty.replace(" ".repeat(6), "void 0")
        : empty.replace(" ", "0");
  }
}
