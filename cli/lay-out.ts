import type { Terminal } from "./terminal.ts";

/** Prints rows: a table with headings on a terminal, tab-separated lines in a pipe. */
export function printTable(
  terminal: Terminal,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  if (!terminal.isInteractive) {
    for (const row of rows) terminal.print(row.map(oneLine).join("\t"));
    return;
  }
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => oneLine(row[column] ?? "").length)),
  );
  const padded = (row: readonly string[]): string =>
    row
      .map((cell, column) => oneLine(cell).padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  terminal.print(terminal.mark("heading", padded(headings)));
  for (const row of rows) terminal.print(padded(row));
}

/** Prints named facts, one per line. */
export function printFacts(
  terminal: Terminal,
  facts: readonly (readonly [name: string, value: string | undefined])[],
): void {
  const known = facts.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  const width = Math.max(...known.map(({ name }) => name.length));
  for (const { name, value } of known) {
    terminal.print(`${terminal.mark("faint", name.padEnd(width))}  ${value}`);
  }
}

/** Prints an answer as the API returned it, on one line. */
export function printJson(terminal: Terminal, answer: unknown): void {
  terminal.print(JSON.stringify(answer));
}

/** Keeps a cell on one line, whatever text a workflow contains. */
function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, " ");
}
