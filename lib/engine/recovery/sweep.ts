/**
 * The sweep: each minute it finds what is overdue, which means that no queue has delivered it, and
 * sends it again. So timers fire and mailboxes are emptied even if every other delivery fails.
 *
 * What was sent in a round is not sent again before the next round, which begins with the oldest: a
 * slow backlog does not grow each minute.
 */
import { OVERDUE_MS, SWEEP_ROUND_MS } from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Item, Slice } from "../../ports/store.ts";
import type { Pace, SweepReport } from "../../shapes/reports.ts";
import { isTimer } from "../rows/open-tickets.ts";
import { instanceIdOf } from "../storage/keys.ts";
import { imageOf } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { type Position, readCursor, walkDue } from "./due-walk.ts";
import { remind } from "./wake.ts";

export async function sweep(world: World, slice: Slice, pace: Pace = {}): Promise<SweepReport> {
  const now = world.clock.now();
  const until = instantFrom(now - (world.settings.overdueMs ?? OVERDUE_MS));
  // Nearly always nothing is due: that costs one question, and no cursor.
  const { items, next } = await world.store.due(until, slice);
  if (items.length === 0 && next === undefined) return NOTHING;
  const path = { walk: "sweep", slice } as const;
  const cursor = await readCursor(world, path);
  const { position } = cursor;
  const isRoundOver = position === undefined || now - position.begunAt >= SWEEP_ROUND_MS;
  const begin: Position = isRoundOver ? { begunAt: now } : position;
  return walkDue(world, {
    ...path,
    pace,
    until,
    cursor,
    begin,
    end: { begunAt: begin.begunAt, from: until },
    look: async (item) => {
      if (!isOverdue(item, begin, until)) return 0;
      const sent = await sendDue(world, item);
      if (sent > 0) world.observe?.({ kind: "swept", lateMs: world.clock.now() - item.lookAt });
      return sent;
    },
  });
}

const NOTHING: SweepReport = { looked: 0, sent: 0, troubles: 0, more: false };

/**
 * The index may lag, and it knows minutes only. What it shows a little early comes with the next
 * sweep (with the next round, where a turn had to stop in that very minute), and of the first
 * minute some were sent in this round already.
 */
function isOverdue(
  item: Item,
  { from }: Position,
  until: Instant,
): item is Item & Readonly<{ lookAt: Instant }> {
  const { lookAt } = item;
  return lookAt !== undefined && lookAt <= until && (from === undefined || lookAt > from);
}

/** Timers are armed for the past: they are queued at once. Only the earliest had been armed. */
async function sendDue(world: World, item: Item): Promise<number> {
  if (instanceIdOf(item.key) === undefined) return (await remind(world, item.key)) ? 1 : 0;
  if (item.expiresAt !== undefined && item.expiresAt <= world.clock.now()) return 0;
  const { tenant, id: instanceId, tickets } = (await imageOf(world, item)).instance;
  const due = tickets.filter(isTimer).filter(({ dueAt }) => dueAt <= world.clock.now());
  for (const { id: ticket, dueAt } of due) {
    await world.timers.arm({ tenant, instanceId, ticket, dueAt, covered: false });
  }
  return due.length;
}
