import type { Listed } from "../lib/client/index.ts";
import { printJson, printTable } from "./lay-out.ts";
import type { Terminal } from "./terminal.ts";

/** Prints a list as JSON or as a table; on a terminal it says whether there is more. */
export function printList<T>(
  terminal: Terminal,
  list: Listed<T>,
  {
    json,
    headings,
    rowOf,
  }: Readonly<{
    json: boolean | undefined;
    headings: readonly string[];
    rowOf: (item: T) => readonly string[];
  }>,
): void {
  if (json) {
    printJson(terminal, list);
    return;
  }
  printTable(terminal, headings, list.items.map(rowOf));
  if (terminal.isInteractive && list.nextCursor !== undefined) {
    terminal.print(terminal.mark("faint", "There are more; use --limit to show them."));
  }
}
