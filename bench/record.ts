// Writes what a run printed into RESULTS.md, between the markers of each section: other text stays.

import { readFileSync, writeFileSync } from "node:fs";
import { cpus, type as system } from "node:os";
import { join } from "node:path";
import { VERSION } from "../lib/api/version.ts";
import type { Row } from "./table.ts";

const FILE = join(import.meta.dirname, "RESULTS.md");

/** The sections of the file that a run writes. */
export type Part = "steps" | "topics";

/** Replaces the given sections, and leaves the others as they are. */
export function record(parts: Readonly<Partial<Record<Part, string>>>): void {
  let text = readFileSync(FILE, "utf8");
  for (const [part, content] of Object.entries(parts)) {
    text = replacePart(text, part, content);
  }
  writeFileSync(FILE, text);
}

/** The text with the section between its markers replaced; throws if it has none. */
export function replacePart(text: string, part: string, content: string): string {
  const [begin, end] = [`<!-- ${part} -->`, `<!-- end of ${part} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`RESULTS.md has no part ${begin} … ${end}.`);
  return `${text.slice(0, from)}${begin}\n\n${content}\n\n${text.slice(to)}`;
}

/** The date and the machine of a run. */
export function describeRun(at: Date): string {
  const { node, sqlite } = process.versions;
  const day = at.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
  return `${day} · fermata-engine ${VERSION} · Node ${node} · SQLite ${sqlite} · ${cpus().length} cores, ${system()}.`;
}

/** A table as Markdown; rows without a counterpart in the bare store belong to the one above. */
export function markdownTable(rows: readonly Row[]): string {
  const lines = rows.map(({ what, engine, store, ratio }) => {
    const name = what.startsWith("  ") ? `… ${what.trim()}` : what;
    return `| ${[name, engine, store, ratio].join(" | ")} |`;
  });
  return ["| | engine | bare store | ratio |", "| --- | --- | --- | --- |", ...lines].join("\n");
}
