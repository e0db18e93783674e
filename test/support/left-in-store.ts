import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { EmbeddedEngine } from "../../lib/embedded/index.ts";

/** What points to an instance, or is due; empty when nothing is armed. */
export type Left = Readonly<{
  /** Rows of waits for signals and events, as `name instance`. */
  rows: readonly string[];
  /** Waits in mailboxes, as `name key instance`. */
  subs: readonly string[];
  /** Messages in mailboxes, as `name key message`. */
  mail: readonly string[];
  /** Broadcast events that are kept, as `name event`. */
  kept: readonly string[];
  /** Keys in the due index. */
  due: readonly string[];
}>;

export const NOTHING_LEFT: Left = { rows: [], subs: [], mail: [], kept: [], due: [] };

/** Lets the engine come to rest, closes it, and reads what it has left in its folder. */
export async function leftBy(engine: EmbeddedEngine, dataDir: string): Promise<Left> {
  await engine.idle();
  await engine.close();
  return leftIn(dataDir);
}

/** What the store of a closed engine holds. */
export function leftIn(dataDir: string): Left {
  const db = new DatabaseSync(join(dataDir, "store.db"), { readOnly: true });
  try {
    const items = db.prepare("SELECT pk, sk, look_at, body FROM items ORDER BY pk, sk").all();
    const rows = items.map(parseRow);
    const of = <T>(kind: string, list: (row: Row) => readonly T[]): T[] =>
      rows.filter(({ pk }) => pk.split("#")[1] === kind).flatMap(list);
    return {
      rows: [...of("G", waitRow), ...of("Y", waitRow)],
      subs: of("M", ({ body }) => parseBox(body).subs.map((it) => `${nameOf(body)} ${it}`)),
      mail: of("M", ({ body }) => parseBox(body).bufs.map((it) => `${nameOf(body)} ${it}`)),
      kept: of("Y", ({ sk, body }) => (sk.startsWith("E#") ? [parseKept(body)] : [])),
      due: rows.filter(({ isDue }) => isDue).map(({ pk, sk }) => `${pk} ${sk}`),
    };
  } finally {
    db.close();
  }
}

type Row = Readonly<{ pk: string; sk: string; isDue: boolean; body: string }>;

function parseRow(row: Readonly<Record<string, unknown>>): Row {
  const body = new TextDecoder().decode(row.body as Uint8Array);
  return { pk: String(row.pk), sk: String(row.sk), isDue: row.look_at !== null, body };
}

/**
 * Rows are stored under `<tenant>#<kind>#<name>#<epoch>.<shard>`; those of definitions are no
 * waits.
 */
function waitRow({ pk, sk }: Row): readonly string[] {
  const [, , name, shard] = pk.split("#");
  return shard === undefined || sk.startsWith("D#") ? [] : [`${name} ${sk.split("#")[1]}`];
}

const nameOf = (body: string): string => {
  const { name, key } = (JSON.parse(body) as { address: { name: string; key: string } }).address;
  return key === "" ? name : `${name} ${key}`;
};

function parseBox(body: string): Readonly<{ subs: string[]; bufs: string[] }> {
  const { subs, bufs } = JSON.parse(body) as {
    subs: { instanceId: string }[];
    bufs: { mid: string }[];
  };
  return { subs: subs.map(({ instanceId }) => instanceId), bufs: bufs.map(({ mid }) => mid) };
}

function parseKept(body: string): string {
  const { name, id } = JSON.parse(body) as { name: string; id: string };
  return `${name} ${id}`;
}
