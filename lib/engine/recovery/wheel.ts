/**
 * The wheel: timers too far ahead for a queue stand in the due index, and each minute those of the
 * next minutes are queued for their exact instant. No schedule of their own is needed for that, so
 * a million of them cost no more than their messages.
 *
 * A step that opens a timer which a queue can hold queues it at once, and a queue reaches further
 * than the wheel looks ahead. So a minute is complete when the wheel comes to it, and is read once.
 * After an outage the wheel goes on with the minute that it had come to: what is overdue by then is
 * queued to fire at once.
 */
import { WHEEL_AHEAD_MS } from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Item, Slice } from "../../ports/store.ts";
import type { Pace, WheelReport } from "../../shapes/reports.ts";
import { earliestTimer } from "../rows/open-tickets.ts";
import { parseTimerStart } from "../rows/timer-start.ts";
import { dueOf, instanceIdOf } from "../storage/keys.ts";
import { imageOf } from "../storage/stored-instance.ts";
import { armStart } from "../timer-starts/fire.ts";
import type { World } from "../world.ts";
import { type Position, readCursor, walkDue } from "./due-walk.ts";

export async function turnWheel(world: World, slice: Slice, pace: Pace = {}): Promise<WheelReport> {
  const now = world.clock.now();
  // The index knows minutes only: whole ones are read, so that each is read once.
  const end = instantFrom(Math.floor((now + WHEEL_AHEAD_MS) / MINUTE_MS) * MINUTE_MS);
  const until = instantFrom(end - 1);
  const path = { walk: "wheel", slice } as const;
  const cursor = await readCursor(world, path);
  const begin: Position = cursor.position ?? { begunAt: now };
  // A second wheel, or one with a clock that is behind, has nothing to do.
  const isThere = begin.after === undefined && begin.from !== undefined && begin.from >= end;
  if (isThere) return { looked: 0, queued: 0, troubles: 0, more: false };
  const { sent: queued, ...walked } = await walkDue(world, {
    ...path,
    pace,
    until,
    cursor,
    begin,
    end: { begunAt: begin.begunAt, from: end },
    look: (item) => queueTimer(world, item, until),
  });
  return { queued, ...walked };
}

const MINUTE_MS = 60_000;

/** The next timer of an instance is armed when this one is over: it is not for the wheel yet. */
async function queueTimer(world: World, item: Item, until: Instant): Promise<number> {
  if (item.lookAt === undefined || item.lookAt > until) return 0;
  if (dueOf(item.key)?.kind === "timer-start") {
    await armStart(world, parseTimerStart(item.body), false);
    return 1;
  }
  if (instanceIdOf(item.key) === undefined) return 0;
  const { instance } = await imageOf(world, item);
  const timer = earliestTimer(instance);
  if (timer === undefined || timer.dueAt > until) return 0;
  const { tenant, id: instanceId } = instance;
  const { id: ticket, dueAt } = timer;
  await world.timers.arm({ tenant, instanceId, ticket, dueAt, covered: false });
  return 1;
}
