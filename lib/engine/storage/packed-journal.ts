/** The journal as it is stored, in an instance and in the chunk that a part of it left with. */
import type { Json } from "../../definition/json.ts";
import { MAX_CHUNK_JOURNAL_BYTES } from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Instance } from "../../kernel/instance.ts";
import type { JournalEntry } from "../../kernel/trail.ts";

/** A part of a journal: what an instance still has of it, or what has left. */
export type Journal = NonNullable<Instance["journal"]>;

/** Each `later` is counted from the entry before it. */
export type PackedJournal = readonly [
  first: number,
  entries: readonly (readonly [element: number, later: number, outcome: Json])[],
];

/** Writes a part down; `from` is the instant that its first entry is counted from. */
export function writeJournal({ next, entries }: Journal, from: Instant): PackedJournal {
  let last = from;
  const packed = entries.map(([element, at, outcome]) => {
    const later = at - last;
    last = at;
    return [element, later, outcome] as const;
  });
  return [next - entries.length, packed];
}

export function readJournal([first, packed]: PackedJournal, from: Instant): Journal {
  let at = from;
  const entries = packed.map(([element, later, outcome]): JournalEntry => {
    at = instantFrom(at + later);
    return [element, at, outcome];
  });
  return { next: first + entries.length, entries };
}

/** How many bytes a part takes. */
export const journalBytes = (journal: Journal): number =>
  Buffer.byteLength(JSON.stringify(writeJournal(journal, journal.entries[0]?.[1] ?? NEVER)));

const NEVER = instantFrom(0);

/** The oldest part that has room in a chunk; undefined where there is none, or none that has. */
export function leavingOf({ next, entries }: Journal): Journal | undefined {
  const first = next - entries.length;
  for (let count = entries.length; count > 0; count = Math.floor(count / 2)) {
    const leaving = { next: first + count, entries: entries.slice(0, count) };
    if (journalBytes(leaving) <= MAX_CHUNK_JOURNAL_BYTES) return leaving;
  }
  return undefined;
}
