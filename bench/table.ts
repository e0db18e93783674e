// The one table that the benchmark prints.

import { cpus } from "node:os";

export type Row = Readonly<{ what: string; engine: string; store: string; ratio: string }>;

/** A figure of the engine next to that of the bare store. */
export function compared(what: string, engine: number, store: number): Row {
  return { what, engine: figure(engine), store: figure(store), ratio: figure(engine / store) };
}

/** A figure without a counterpart in the bare store. */
export function alone(what: string, engine: number): Row {
  return { what: `  ${what}`, engine: figure(engine), store: "", ratio: "" };
}

export function print(rows: readonly Row[]): void {
  const { node, sqlite } = process.versions;
  console.log(`Node ${node}, SQLite ${sqlite}, ${cpus().length} cores\n`);
  const head: Row = { what: "", engine: "engine", store: "bare store", ratio: "ratio" };
  for (const { what, engine, store, ratio } of [head, ...rows]) {
    console.log(what.padEnd(44) + engine.padStart(12) + store.padStart(12) + ratio.padStart(9));
  }
}

export function figure(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}
