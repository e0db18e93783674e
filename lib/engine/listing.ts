/**
 * Lists of instances, newest first. Each combination of phase and definition is a view of its
 * own; a page merges the heads of the views it needs, and shows each instance as it is now.
 */
import { MAX_PAGE_BYTES } from "../definition/limits.ts";
import { type Instant, parseInstant } from "../definition/time/instant.ts";
import type { Instance } from "../kernel/instance.ts";
import { EngineError, type ErrorCode } from "../ports/engine-error.ts";
import type { Item } from "../ports/store.ts";
import type { InstanceFilter, InstanceView, Listed, PageRequest } from "./engine.ts";
import { definitionsView, instanceOrder, PHASES, type Phase, phaseView } from "./keys.ts";
import { parseLatest } from "./latest.ts";
import { readMany } from "./read-many.ts";
import { checkPage } from "./request-rules.ts";
import { type Image, imageOf } from "./stored-instance.ts";
import { statusOf, viewInstance } from "./views.ts";
import type { World } from "./world.ts";

export async function listInstances(
  world: World,
  filter: InstanceFilter,
  page: PageRequest,
): Promise<Listed<InstanceView>> {
  const weigh = (image: Image) => weightOf(viewInstance(world, image));
  const { images, nextCursor } = await readPage(world, filter, phasesOf(filter), page, weigh);
  const items = images
    .filter(({ instance }) => matches(world, instance, filter))
    .map((image) => viewInstance(world, image));
  return { items, ...(nextCursor !== undefined && { nextCursor }) };
}

type ImagePage = Readonly<{ images: readonly Image[]; nextCursor?: string }>;

/** A page of everything that is live, with incidents or without. */
export const liveImages = (world: World, page: PageRequest): Promise<ImagePage> =>
  readPage(world, {}, ["live", "incident"], page);

async function readPage(
  world: World,
  filter: InstanceFilter,
  phases: readonly Phase[],
  page: PageRequest,
  /** Of one in the answer; a page that gets too heavy is cut short. */
  weigh: (image: Image) => number = () => 0,
): Promise<ImagePage> {
  checkPage(page);
  const { limit, cursor } = page;
  const bounds = boundsOf(filter, cursor);
  const views = await viewsOf(world, filter, phases);
  // A single view is read as far as the page needs; of many, only a little beyond their heads.
  const ahead = views.length === 1 ? Math.min(limit, MAX_READ_AHEAD) : READ_AHEAD;
  const heads = views.map(
    (view): Head => ({ view, ahead, buffer: [], after: undefined, ended: false }),
  );
  const images: Image[] = [];
  let bytes = 0;
  let last: string | undefined;
  while (images.length < limit) {
    const image = await popNewest(world, heads, bounds);
    if (image === undefined) return { images };
    const order = instanceOrder(image.instance);
    // It changed its phase between the reads of two views, and stands in both.
    if (order === last) continue;
    bytes += weigh(image);
    if (images.length > 0 && bytes > MAX_PAGE_BYTES) break;
    last = order;
    images.push(image);
  }
  return { images, ...(last !== undefined && { nextCursor: last }) };
}

type Bounds = Readonly<{ from?: string; to?: string }>;

/** How far a view has been read. */
type Head = {
  readonly view: string;
  readonly ahead: number;
  buffer: Image[];
  /** The store's cursor: it moves on over what is expired, gone or unreadable. */
  after: string | undefined;
  ended: boolean;
};

const READ_AHEAD = 4;
const MAX_READ_AHEAD = 25;

/** About: what is not ASCII takes more, which the limit leaves room for. */
export const weightOf = (view: object): number => JSON.stringify(view).length;

async function popNewest(
  world: World,
  heads: readonly Head[],
  bounds: Bounds,
): Promise<Image | undefined> {
  let newest: Head | undefined;
  for (const head of heads) {
    while (head.buffer.length === 0 && !head.ended) await refill(world, head, bounds);
    if (orderOf(head) > (newest ? orderOf(newest) : "")) newest = head;
  }
  return newest?.buffer.shift();
}

const orderOf = ({ buffer: [first] }: Head): string => (first ? instanceOrder(first.instance) : "");

async function refill(world: World, head: Head, bounds: Bounds): Promise<void> {
  const page = await world.store.list(head.view, {
    ...bounds,
    limit: head.ahead,
    backwards: true,
    ...(head.after !== undefined && { after: head.after }),
  });
  const now = world.clock.now();
  for (const item of await readMany(world.store, page.items)) {
    if (item === undefined || (item.expiresAt ?? now + 1) <= now) continue;
    const image = await readable(world, item);
    if (image && !image.instance.erased) head.buffer.push(image);
  }
  head.after = page.next;
  head.ended = page.next === undefined;
}

/** One instance that this engine cannot read must not hide all the others. */
async function readable(world: World, item: Item): Promise<Image | undefined> {
  try {
    return await imageOf(world, item);
  } catch (cause) {
    if (cause instanceof EngineError && UNREADABLE.has(cause.code)) return undefined;
    throw cause;
  }
}

/** Written by a newer engine; its definition is gone; no runner for its definition. */
const UNREADABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "instance/format-too-new",
  "store/corrupt",
  "engine/misconfigured",
]);

function matches(world: World, instance: Instance, { status, incident }: InstanceFilter): boolean {
  if (status !== undefined && statusOf(world, instance) !== status) return false;
  return !incident || instance.tickets.some(({ on }) => on === "incident");
}

async function viewsOf(
  world: World,
  filter: InstanceFilter,
  phases: readonly Phase[],
): Promise<readonly string[]> {
  const { tenant } = world.settings;
  const ids = filter.definition === undefined ? await allIds(world) : [filter.definition];
  return ids.flatMap((id) => phases.map((phase) => phaseView(tenant, phase, id)));
}

function phasesOf({ status, incident }: InstanceFilter): readonly Phase[] {
  if (incident) return ["incident"];
  if (status === undefined) return PHASES;
  switch (status) {
    case "running":
    case "suspended":
      return ["live", "incident"];
    case "succeeded":
    case "failed":
    case "cancelled":
      return [status];
  }
}

async function allIds(world: World): Promise<readonly string[]> {
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const view = definitionsView(world.settings.tenant);
    const range = { limit: 100, ...(after !== undefined && { after }) };
    const page = await world.store.list(view, range);
    const heads = await readMany(world.store, page.items);
    ids.push(...heads.flatMap((head) => (head ? [parseLatest(head.body).id] : [])));
    after = page.next;
  } while (after !== undefined);
  return ids;
}

/** `from` is inclusive and `to` exclusive; a cursor names the last instance already seen. */
function boundsOf(
  { startedAfter, startedBefore }: InstanceFilter,
  cursor: string | undefined,
): Bounds {
  if (cursor !== undefined && !/^\d{15}#/.test(cursor)) throw badCursor();
  const after = startedAfter === undefined ? undefined : instantOf("startedAfter", startedAfter);
  const before =
    startedBefore === undefined ? undefined : instantOf("startedBefore", startedBefore);
  const ends = [cursor, before && orderAt(before)].filter((end) => end !== undefined);
  const to = ends.sort()[0];
  return {
    ...(after !== undefined && { from: orderAt((after + 1) as Instant) }),
    ...(to !== undefined && { to }),
  };
}

const orderAt = (startedAt: Instant): string => instanceOrder({ startedAt, id: "" });

function instantOf(name: string, text: string): Instant {
  const parsed = parseInstant(text);
  if (parsed.ok) return parsed.value;
  throw new EngineError("request/invalid", {
    happened: `${name} is not an instant`,
    where: name,
    fix: parsed.hint,
    retryable: false,
    details: [{ path: name, message: parsed.problem }],
  });
}

export function badCursor(): EngineError {
  return new EngineError("request/invalid", {
    happened: "The cursor is not one of this list",
    where: "cursor",
    fix: "Hand back `nextCursor` as it came, or start without a cursor.",
    retryable: false,
    details: [{ path: "cursor", message: "is not a cursor of this list" }],
  });
}
