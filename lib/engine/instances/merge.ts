/** Several indexes read as one, the newest first: only keys, so that looking ahead costs little. */
import type { Entry, Source } from "./listing-sources.ts";

/** Where to read: from (inclusive) up to (exclusive). */
export type Bounds = Readonly<{ from?: string; to?: string }>;

/** What comes next of all sources together. */
export type Merged = Readonly<{
  /** Up to so many, each order once; fewer only at the end. */
  take(count: number): Promise<readonly Entry[]>;
  /** Nothing is left, as far as was read. */
  isOver(): boolean;
}>;

/** Of each source, the first time so many are read that the page probably needs no second time. */
export function mergeNewest(sources: readonly Source[], bounds: Bounds, limit: number): Merged {
  const share = Math.ceil((2 * limit) / Math.max(1, sources.length));
  const ahead = Math.min(limit, Math.max(MIN_AHEAD, share));
  const heads = sources.map(
    (source): Head => ({ source, ahead, buffer: [], after: undefined, ended: false }),
  );
  let last: string | undefined;
  const takeOne = async (): Promise<Entry | undefined> => {
    await Promise.all(heads.map((head) => refill(head, bounds)));
    return newestOf(heads)?.buffer.shift();
  };
  return {
    take: async (count) => {
      const taken: Entry[] = [];
      while (taken.length < count) {
        const entry = await takeOne();
        if (entry === undefined) break;
        // It changed its phase between the reads of two views, and stands in both.
        if (entry.order !== last) taken.push(entry);
        last = entry.order;
      }
      return taken;
    },
    isOver: () => heads.every(({ buffer, ended }) => ended && buffer.length === 0),
  };
}

const MIN_AHEAD = 4;
const MAX_AHEAD = 100;

/** How far a source has been read. */
type Head = {
  readonly source: Source;
  ahead: number;
  buffer: Entry[];
  /** The store's cursor. */
  after: string | undefined;
  ended: boolean;
};

async function refill(head: Head, bounds: Bounds): Promise<void> {
  while (head.buffer.length === 0 && !head.ended) {
    const { items, next } = await head.source({
      ...bounds,
      limit: head.ahead,
      backwards: true,
      ...(head.after !== undefined && { after: head.after }),
    });
    head.buffer.push(...items);
    head.after = next;
    head.ended = next === undefined;
    head.ahead = Math.min(MAX_AHEAD, head.ahead * 2);
  }
}

function newestOf(heads: readonly Head[]): Head | undefined {
  let newest: Head | undefined;
  for (const head of heads) {
    const order = head.buffer[0]?.order ?? "";
    if (order > (newest?.buffer[0]?.order ?? "")) newest = head;
  }
  return newest;
}
