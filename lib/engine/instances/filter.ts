/** What a filter means for an instance as it stands now, and for the range that is read. */
import { canonicalJson } from "../../definition/json.ts";
import { checkedValue } from "../../definition/parsed.ts";
import { type Instant, parseInstant } from "../../definition/time/instant.ts";
import type { Instance } from "../../kernel/instance.ts";
import { EngineError } from "../../ports/engine-error.ts";
import { cursorInvalid } from "../../ports/store-rules.ts";
import type { InstanceFilter } from "../../shapes/instances.ts";
import type { Listed, PageRequest } from "../../shapes/paging.ts";
import { instanceOrder } from "../storage/keys.ts";
import type { World } from "../world.ts";
import type { Bounds } from "./listing-sources.ts";
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

/** `from` is inclusive and `to` exclusive; `behind` is the place of the last one already seen. */
export function boundsOf(
  { startedAfter, startedBefore }: Pick<InstanceFilter, "startedAfter" | "startedBefore">,
  behind: string | undefined,
): Bounds {
  const after = startedAfter === undefined ? undefined : instantOf(startedAfter);
  const before = startedBefore === undefined ? undefined : instantOf(startedBefore);
  const ends = [behind, before && orderAt(before)].filter((end) => end !== undefined);
  const to = ends.sort()[0];
  return {
    ...(after !== undefined && { from: orderAt((after + 1) as Instant) }),
    ...(to !== undefined && { to }),
  };
}

/** A cursor says whose list it is of: in another one it would skip what was not shown. */
export const cursorOf = (world: World, list: object, place: string): string =>
  `${listMark(world, list)}:${place}`;

/** The place in a cursor of this very list; throws for any other. */
export function placeIn(
  world: World,
  list: object,
  cursor: string | undefined,
): string | undefined {
  if (cursor === undefined) return undefined;
  const [, mark, place] = /^([^:]+):(\d{15}#.+)$/.exec(cursor) ?? [];
  if (place === undefined || mark !== listMark(world, list)) throw badCursor();
  return place;
}

/**
 * A list that goes on by a cursor of its own: outside it carries whose list it is of, and one of
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
  const from = cursor === undefined ? {} : { cursor: cursor.slice(mark.length) };
  const { items, nextCursor } = await read({ limit, ...from });
  return { items, ...(nextCursor !== undefined && { nextCursor: mark + nextCursor }) };
}

function listMark(world: World, list: object): string {
  return world.ids.digest(canonicalJson(list)).slice(0, 8);
}

const orderAt = (startedAt: Instant): string => instanceOrder({ startedAt, id: "" });

/** The instant that a filter gives. */
export const instantOf = (text: string): Instant => checkedValue(parseInstant(text));

export const badCursor = (): EngineError =>
  new EngineError("request/invalid", {
    happened: "The cursor is not one of this list",
    where: "cursor",
    fix: "Hand back `nextCursor` as it came and with the same filter, or start without a cursor.",
    details: [{ path: "cursor", message: "is not a cursor of this list" }],
  });
