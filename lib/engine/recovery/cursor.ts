/**
 * How far a walk along the due index has come, kept in the store so that the next one goes on there.
 * It is only ever moved behind what has been sent, under its version: of two walks at once one
 * notices that it is not alone and stops, and what both have sent is sent twice, which is harmless.
 */
import type { Instant } from "../../definition/time/instant.ts";
import type { Slice } from "../../ports/store.ts";
import { type Walk, walkKey } from "../storage/keys.ts";
import type { World } from "../world.ts";

/** A position: everything before `from`, and of the rest all up to `after`, is done with. */
export type Position = Readonly<{
  /** When the walk last began with the oldest. */
  begunAt: Instant;
  from?: Instant;
  /** A cursor of the store, while there is more than one turn may read. */
  after?: string;
}>;

/** A position as it was read; version 0 where none is stored yet. */
export type Cursor = Readonly<{ version: number; position?: Position }>;

/** Which walk, along which slice of the index. */
export type Path = Readonly<{ walk: Walk; slice: Slice }>;

export async function readCursor(world: World, { walk, slice }: Path): Promise<Cursor> {
  const [item] = await world.store.get([walkKey(walk, slice)]);
  if (item === undefined) return { version: 0 };
  return { version: item.version, position: parsePosition(item.body) };
}

/** The cursor behind `position`; undefined where it was not moved, because another walk may run. */
export async function moveCursor(
  world: World,
  { walk, slice }: Path,
  { version }: Cursor,
  position: Position,
): Promise<Cursor | undefined> {
  const body = new TextEncoder().encode(JSON.stringify({ format: FORMAT, ...position }));
  const put = { key: walkKey(walk, slice), version: version + 1, body };
  const when = version === 0 ? "absent" : { version };
  const { kind } = await world.store.commit([{ put, when }]);
  return kind === "committed" ? { version: version + 1, position } : undefined;
}

const FORMAT = 1;

/** Where it is damaged or of a newer engine the walk begins anew, which is always right. */
function parsePosition(body: Uint8Array): Position {
  try {
    const text = new TextDecoder().decode(body);
    const { format, ...position } = JSON.parse(text) as Position & { format: number };
    if (format === FORMAT && typeof position.begunAt === "number") return position;
  } catch {
    // Not even JSON.
  }
  return { begunAt: BEFORE_ALL };
}

const BEFORE_ALL = 0 as Instant;
