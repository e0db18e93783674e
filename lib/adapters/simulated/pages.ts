import type { Instant } from "../../definition/time/instant.ts";
import { compareByUtf8 } from "../../ports/key-order.ts";
import type { Item, Key, ListedKey, Page, Range } from "../../ports/store.ts";
import { cursorInvalid, storeLimits } from "../../ports/store-rules.ts";

/** The part of a partition that is in a range; the items are in the order of keys. */
export function scanPage(partition: readonly Item[], range: Range): Page<Item> {
  const { from, to, after, backwards, limit } = range;
  const behind = backwards || after === undefined ? 0 : placeOf(partition, `${after}\0`);
  const before = backwards && after !== undefined ? placeOf(partition, after) : partition.length;
  const first = Math.max(behind, from === undefined ? 0 : placeOf(partition, from));
  const end = Math.min(before, to === undefined ? partition.length : placeOf(partition, to));
  const most = Math.min(limit, storeLimits.itemsPerPage);
  const items = backwards
    ? partition.slice(Math.max(first, end - most), end).reverse()
    : partition.slice(first, Math.min(end, first + most));
  const last = items.at(-1);
  return end - first > most && last ? { items, next: last.key.sk } : { items };
}

/** How many items sort before this key. No key holds NUL: with one, the key itself is before it. */
function placeOf(partition: readonly Item[], sk: string): number {
  let [low, high] = [0, partition.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = partition[middle];
    if (item !== undefined && compareByUtf8(item.key.sk, sk) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The part of a listing view that is in a range of orders. */
export function listPage(items: readonly Item[], view: string, range: Range): Page<ListedKey> {
  const places = items.flatMap((item) =>
    item.listed?.view === view
      ? [{ item, place: [item.listed.order, item.key.pk, item.key.sk] }]
      : [],
  );
  const cursor = parseCursor(range.after, "string");
  const { items: listed, ...rest } = pageOf(cut(within(places, range), { ...range, cursor }));
  return { ...rest, items: listed.map(({ key, listed }) => ({ ...key, order: orderOf(listed) })) };
}

/** The keys that are due, oldest first. */
export function duePage(
  items: readonly Item[],
  range: {
    from: Instant | undefined;
    until: Instant;
    limit: number;
    after: string | undefined;
  },
): Page<Key> {
  const from = range.from ?? Number.NEGATIVE_INFINITY;
  const places = items.flatMap((item) =>
    item.lookAt !== undefined && item.lookAt >= from && item.lookAt <= range.until
      ? [{ item, place: [item.lookAt, item.key.pk, item.key.sk] }]
      : [],
  );
  const cursor = parseCursor(range.after, "number");
  const { items: due, ...rest } = pageOf(cut(places, { limit: range.limit, cursor }));
  return { ...rest, items: due.map(({ key }) => key) };
}

/** The place of an item: first its order, then its key, so that no two have the same place. */
type Place = readonly (string | number)[];
type Placed = Readonly<{ item: Item; place: Place }>;
type Cut = Readonly<{ limit: number; cursor: Place | undefined; backwards?: true }>;

function within(places: readonly Placed[], { from, to }: Range): readonly Placed[] {
  return places.filter(
    ({ place: [order = ""] }) =>
      (from === undefined || compareByUtf8(String(order), from) >= 0) &&
      (to === undefined || compareByUtf8(String(order), to) < 0),
  );
}

function cut(places: readonly Placed[], { limit, cursor, backwards }: Cut) {
  const sign = backwards ? -1 : 1;
  const ordered = places
    .filter(({ place }) => cursor === undefined || sign * comparePlaces(place, cursor) > 0)
    .sort((a, b) => sign * comparePlaces(a.place, b.place));
  const most = Math.min(limit, storeLimits.itemsPerPage);
  const page = ordered.slice(0, most);
  const next = ordered.length > most ? page.at(-1)?.place : undefined;
  return { items: page.map(({ item }) => item), next };
}

function pageOf({ items, next }: ReturnType<typeof cut>): Page<Item> {
  return { items, ...(next && { next: JSON.stringify(next) }) };
}

const orderOf = (listed: Item["listed"]): string => listed?.order ?? "";

function comparePlaces(a: Place, b: Place): number {
  for (const [n, left] of a.entries()) {
    const right = b[n] ?? "";
    const order =
      typeof left === "number" ? left - Number(right) : compareByUtf8(left, String(right));
    if (order !== 0) return order;
  }
  return 0;
}

function parseCursor(text: string | undefined, first: "string" | "number"): Place | undefined {
  if (text === undefined) return undefined;
  try {
    const place: unknown = JSON.parse(text);
    if (Array.isArray(place) && place.length === 3 && typeof place[0] === first) {
      return place as Place;
    }
  } catch {
    // Not a cursor of ours, as below.
  }
  throw cursorInvalid(text);
}
