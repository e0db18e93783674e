/** What a filter means for an instance as it stands now, and for the range that is read. */
import { canonicalJson } from "../../definition/json.ts";
import { checkedValue } from "../../definition/parsed.ts";
import { type Instant, parseInstant } from "../../definition/time/instant.ts";
import type { Instance } from "../../kernel/instance.ts";
import type { Range } from "../../ports/store.ts";
import { cursorInvalid } from "../../ports/store-rules.ts";
import type { InstanceFilter } from "../../shapes/instances.ts";
import type { Listed, PageRequest } from "../../shapes/paging.ts";
import { defined } from "../storage/defined.ts";
import { instanceOrder } from "../storage/keys.ts";
import type { World } from "../world.ts";
import { statusOf } from "./views.ts";

/** Says whether the instance is one of those that are asked for; indexes may lag, this does not. */
export function matches(world: World, instance: Instance, filter: InstanceFilter): boolean {
  const { definition, status, incident, businessKey, tag } = filter;
  return (
    (definition === undefined || instance.definition.id === definition) &&
    (businessKey === undefined || instance.businessKey === businessKey) &&
    (tag === undefined || (instance.tags ?? []).includes(tag)) &&
    (status === undefined || statusOf(world, instance) === status) &&
    (!incident || instance.tickets.some(({ on }) => on === "incident"))
  );
}

/** Where to read: from (inclusive) up to (exclusive). */
export type Bounds = Pick<Range, "from" | "to">;

/** The range that a filter asks for, behind the place of the last one already seen. */
export function boundsOf(
  { startedAfter, startedBefore }: InstanceFilter,
  behind: string | undefined,
): Bounds {
  const after = instantOf(startedAfter);
  const before = instantOf(startedBefore);
  const ends = [behind, before && orderAt(before)].filter((end) => end !== undefined);
  const from = after === undefined ? undefined : orderAt((after + 1) as Instant);
  return defined({ from, to: ends.sort()[0] });
}

/** The cursor of an answer whose list goes on. It names its list: another refuses it. */
export const goingOn = (
  world: World,
  list: object,
  last: string | undefined,
): Readonly<{ nextCursor?: string }> =>
  last === undefined ? {} : { nextCursor: `${listMark(world, list)}:${last}` };

/** The place in a cursor of this very list; throws for any other. */
export function placeIn(
  world: World,
  list: object,
  cursor: string | undefined,
): string | undefined {
  if (cursor === undefined) return undefined;
  const [, mark, place] = /^([^:]+):(\d{15}#.+)$/.exec(cursor) ?? [];
  if (place === undefined || mark !== listMark(world, list)) throw cursorInvalid(cursor);
  return place;
}

/**
 * A list with cursors of its own: callers get them with the name of the list, and the cursor of
 * another list is refused before anything is read.
 */
export const paged =
  <T>(name: string, list: (world: World, page: PageRequest) => Promise<Listed<T>>) =>
  (world: World, page: PageRequest): Promise<Listed<T>> =>
    markedPage(world, [name], page, (own) => list(world, own));

/** The same for one list of many, by what they are of. */
export const pagedBy =
  <By, T>(name: string, list: (world: World, by: By, page: PageRequest) => Promise<Listed<T>>) =>
  (world: World, by: By, page: PageRequest): Promise<Listed<T>> =>
    markedPage(world, [name, by], page, (own) => list(world, by, own));

async function markedPage<T>(
  world: World,
  list: readonly unknown[],
  { limit, cursor }: PageRequest,
  read: (page: PageRequest) => Promise<Listed<T>>,
): Promise<Listed<T>> {
  const mark = `${listMark(world, list)}:`;
  if (cursor !== undefined && !cursor.startsWith(mark)) throw cursorInvalid(cursor);
  const own = defined({ cursor: cursor?.slice(mark.length) });
  const { items, nextCursor } = await read({ limit, ...own });
  return { items, ...(nextCursor !== undefined && { nextCursor: mark + nextCursor }) };
}

function listMark(world: World, list: object): string {
  return world.ids.digest(canonicalJson(list)).slice(0, 8);
}

const orderAt = (startedAt: Instant): string => instanceOrder({ startedAt, id: "" });

/** The instant that a filter gives, if it does. */
export const instantOf = (text: string | undefined): Instant | undefined =>
  text === undefined ? undefined : checkedValue(parseInstant(text));
