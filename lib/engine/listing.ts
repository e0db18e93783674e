/**
 * Lists of instances, newest first. Each combination of phase and definition is a view of its
 * own; a page merges the heads of the views it needs, and shows each instance as it is now.
 */
import { type Instant, parseInstant } from "../definition/time/instant.ts";
import type { Instance } from "../kernel/instance.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { InstanceFilter, InstanceView, Listed, PageRequest } from "./engine.ts";
import { definitionsView, instanceOrder, PHASES, type Phase, phaseView } from "./keys.ts";
import { parseLatest } from "./latest.ts";
import { readMany } from "./read-many.ts";
import { type Image, imageOf } from "./stored-instance.ts";
import { statusOf, viewInstance } from "./views.ts";
import type { World } from "./world.ts";

export async function listInstances(
  world: World,
  filter: InstanceFilter,
  { limit, cursor }: PageRequest,
): Promise<Listed<InstanceView>> {
  const bounds = boundsOf(filter, cursor);
  const views = await viewsOf(world, filter);
  // A single view is read as far as the page needs; of many, only a little beyond their heads.
  const ahead = views.length === 1 ? limit : READ_AHEAD;
  const heads = views.map(
    (view): Head => ({ view, ahead, buffer: [], before: bounds.to, ended: false }),
  );
  const items: InstanceView[] = [];
  let seen = 0;
  let last: string | undefined;
  while (seen < limit) {
    const image = await popNewest(world, heads, bounds.from);
    if (image === undefined) return { items };
    seen += 1;
    last = instanceOrder(image.instance);
    if (matches(world, image.instance, filter)) items.push(viewInstance(world, image));
  }
  return { items, ...(last !== undefined && { nextCursor: last }) };
}

type Head = {
  readonly view: string;
  ahead: number;
  buffer: Image[];
  before: string | undefined;
  ended: boolean;
};

const READ_AHEAD = 4;

async function popNewest(
  world: World,
  heads: readonly Head[],
  from: string | undefined,
): Promise<Image | undefined> {
  let newest: Head | undefined;
  for (const head of heads) {
    if (head.buffer.length === 0 && !head.ended) await refill(world, head, from);
    if (orderOf(head) > (newest ? orderOf(newest) : "")) newest = head;
  }
  return newest?.buffer.shift();
}

const orderOf = ({ buffer: [first] }: Head): string => (first ? instanceOrder(first.instance) : "");

async function refill(world: World, head: Head, from: string | undefined): Promise<void> {
  const page = await world.store.list(head.view, {
    limit: head.ahead,
    backwards: true,
    ...(from !== undefined && { from }),
    ...(head.before !== undefined && { to: head.before }),
  });
  const now = world.clock.now();
  for (const item of await readMany(world.store, page.items)) {
    if (item === undefined) continue;
    const image = await imageOf(world, item);
    head.before = instanceOrder(image.instance);
    if ((item.expiresAt ?? now + 1) > now) head.buffer.push(image);
  }
  head.ended = page.next === undefined;
}

function matches(world: World, instance: Instance, { status, incident }: InstanceFilter): boolean {
  if (status !== undefined && statusOf(world, instance) !== status) return false;
  return !incident || instance.tickets.some(({ on }) => on === "incident");
}

async function viewsOf(world: World, filter: InstanceFilter): Promise<readonly string[]> {
  const { tenant } = world.settings;
  const ids = filter.definition === undefined ? await allIds(world) : [filter.definition];
  return ids.flatMap((id) => phasesOf(filter).map((phase) => phaseView(tenant, phase, id)));
}

function phasesOf({ status, incident }: InstanceFilter): readonly Phase[] {
  if (incident) return ["incident"];
  switch (status) {
    case undefined:
      return PHASES;
    case "running":
    case "suspended":
      return ["live", "incident"];
    default:
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
): { from?: string; to?: string } {
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
