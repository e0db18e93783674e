/** What begins by itself: a list of it, and the switch for one. */
import { MAX_TRIES_AT_DEFINITION } from "../../definition/limits.ts";
import { formatInstant } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Key } from "../../ports/store.ts";
import type { ScheduleView } from "../../shapes/definitions.ts";
import type { Listed, PageRequest } from "../../shapes/paging.ts";
import {
  disabled,
  dueOfStart,
  parseTimerStart,
  readTimerStart,
  type TimerStart,
} from "../rows/timer-start.ts";
import { listItems, listPages, rangeOf, readMany, viewPage } from "../storage/items.ts";
import { schedulesView, timerStartKey } from "../storage/keys.ts";
import { type Latest, readLatest } from "../storage/latest.ts";
import { again, retrying } from "../storage/retrying.ts";
import { readableOf } from "../storage/unreadable.ts";
import type { World } from "../world.ts";
import { armStart, disarmStart, startWrite } from "./fire.ts";
import { readStarts } from "./replace.ts";

/** Start events by timer of all definitions that are deployed, by definition and element. */
export async function listSchedules(
  world: World,
  request: PageRequest,
): Promise<Listed<ScheduleView>> {
  const view = schedulesView(world.settings.tenant);
  return viewPage(world, await listItems(world, view, rangeOf(request)), ({ body }) => {
    const start = parseTimerStart(body);
    return start.isStopped ? undefined : viewSchedule(start);
  });
}

/** Stops one start event; it comes back when its definition is enabled or deployed anew. */
export async function removeSchedule(world: World, id: string): Promise<{ removed: true }> {
  const key = await keyOf(world, id);
  return retrying(world, { tries: MAX_TRIES_AT_DEFINITION, where: `schedule ${id}` }, async () => {
    const found = key && (await readTimerStart(world, key));
    if (found === undefined || found.start.isStopped)
      throw new EngineError("schedule/not-found", { where: `schedule ${id}` });
    const stopped: TimerStart = { ...disabled(found.start), isStopped: true };
    const outcome = await world.store.commit([startWrite(world, found, stopped)]);
    if (outcome.kind !== "committed") return again(outcome);
    await disarmStart(world, found.start);
    return { removed: true };
  });
}

/** When the start events of a definition are due next, by element. */
export async function nextDues(world: World, latest: Latest): Promise<ReadonlyMap<string, string>> {
  const items = await readStarts(world, latest);
  const dues = new Map<string, string>();
  for (const start of readableOf(world, items, ({ body }) => parseTimerStart(body))) {
    const dueAt = dueOfStart(start);
    if (dueAt !== undefined) dues.set(start.element, formatInstant(dueAt));
  }
  return dues;
}

/** Arms all of them, as if every schedule and every queue were lost; failures go to `onTrouble`. */
export async function rearmAllStarts(
  world: World,
  counts: { rearmed: number; timersFired: number },
  onTrouble: (key: Key, error: unknown) => void,
): Promise<void> {
  const view = schedulesView(world.settings.tenant);
  for await (const keys of listPages(world.store, view, { limit: 100 })) {
    for (const item of await readMany(world.store, keys)) {
      if (item === undefined) continue;
      try {
        const start = parseTimerStart(item.body);
        const dueAt = dueOfStart(start);
        if (dueAt === undefined) continue;
        await armStart(world, start, !world.settings.host.queuesSurvive);
        counts[dueAt <= world.clock.now() ? "timersFired" : "rearmed"] += 1;
      } catch (error) {
        onTrouble(item.key, error);
      }
    }
  }
}

function viewSchedule(start: TimerStart): ScheduleView {
  const { definitionId: id, version, element, kind, text, zone, left, enabled, n } = start;
  const nextDue = dueOfStart(start);
  return {
    id: `${encodeURIComponent(id)}~${encodeURIComponent(element)}`,
    definition: { id, version },
    element,
    kind,
    text,
    zone: zone ?? "UTC",
    ...(nextDue !== undefined && { nextDue: formatInstant(nextDue) }),
    ...(left !== "unbounded" && { remaining: left }),
    enabled,
    fired: n,
  };
}

/** Only the latest version of a definition has start events that fire. */
async function keyOf(world: World, id: string): Promise<Key | undefined> {
  const [definitionId, element, ...rest] = id.split("~").map(decoded);
  if (definitionId === undefined || element === undefined || rest.length > 0) return undefined;
  const latest = (await readLatest(world, definitionId))?.latest;
  if (!latest?.timers?.includes(element)) return undefined;
  return timerStartKey(world.settings.tenant, { definitionId, hash: latest.hash, element });
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
