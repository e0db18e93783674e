/**
 * A start event by timer, as it is stored: what it was armed with, and how far it has come.
 *
 * 1. `run` is the version of the definition's head that armed it: whatever changes the definition
 *    begins a new run, and no two runs share an occurrence. Versions of the item grow with it, also
 *    where it was removed and put again meanwhile.
 * 2. An occurrence is named by run and number. The start of its instance counts it in the same
 *    commit, so that there is no second.
 * 3. Due instants follow from the one before, never from when it fired.
 */
import type { StartEvent } from "../../definition/definition.ts";
import { evaluateComputed, resultOf } from "../../definition/expression.ts";
import type { Parsed } from "../../definition/parsed.ts";
import {
  firstOfCycle,
  isCron,
  nextOfCycle,
  parseCycle,
  parseStoredCycle,
  repetitionsOf,
} from "../../definition/time/cycle.ts";
import { addDuration, parseDuration } from "../../definition/time/duration.ts";
import { type Instant, instantFrom, parseInstant } from "../../definition/time/instant.ts";
import { parseTimeZone } from "../../definition/time/time-zone.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { CarriedStart, TimerStartMessage } from "../../ports/message.ts";
import type { Item, Key, Write } from "../../ports/store.ts";
import { encodeBody, parserOf } from "../storage/formats.ts";
import { scheduleOrder, schedulesView, timerStartKey } from "../storage/keys.ts";
import type { World } from "../world.ts";

export type TimerStart = Readonly<{
  definitionId: string;
  /** Of the definition that its instances run. */
  version: number;
  hash: string;
  element: string;
  kind: "duration" | "date" | "cycle" | "cron";
  text: string;
  zone?: string;
  run: number;
  /** Instants are counted from here: when it was armed. */
  anchor: Instant;
  /** How often it has fired in this run; also the number of the next occurrence. */
  n: number;
  left: number | "unbounded";
  /** Absent when nothing is left. */
  nextDue?: Instant;
  enabled: boolean;
  /** Removed by itself: it comes back when its definition is enabled or deployed anew. */
  isStopped?: true;
}>;

/** An event of a definition that is about to be armed by the head of this version. */
export type Arming = Readonly<{
  definition: Readonly<{ id: string; version: number; hash: string }>;
  event: Extract<StartEvent, { kind: "timer" }>;
  run: number;
}>;

/** Arms the start event from now on, for as often as it says. */
export async function armed(world: World, { definition, event, run }: Arming): Promise<TimerStart> {
  const { as, value, zone: zoneName } = event.timer;
  const now = world.clock.now();
  const text = await textOf(world, definition.id, event);
  const zone = zoneName === undefined ? undefined : readable(event, parseTimeZone(zoneName));
  const common = {
    definitionId: definition.id,
    version: definition.version,
    hash: definition.hash,
    element: event.element,
    text: value.kind === "feel" ? `=${value.text}` : text,
    ...(zone && { zone }),
    run,
    anchor: now,
    n: 0,
    enabled: true,
  };
  switch (as) {
    case "duration":
    case "date": {
      const due =
        as === "date"
          ? readable(event, parseInstant(text))
          : addDuration(now, readable(event, parseDuration(text)), zone);
      // What has passed is due now.
      return { ...common, kind: as, left: 1, nextDue: instantFrom(Math.max(due, now)) };
    }
    case "cycle": {
      const parse = value.kind === "static" ? parseStoredCycle : parseCycle;
      const cycle = readable(event, parse(text, zone));
      // What an expression gave is kept as it came out: the next round must not be another.
      const kind = isCron(cycle) ? "cron" : as;
      const nextDue = firstOfCycle(cycle, now);
      return { ...common, text, kind, left: repetitionsOf(cycle), nextDue };
    }
  }
}

/** Fires nothing until it is armed again. */
export const disabled = (start: TimerStart): TimerStart => ({ ...start, enabled: false });

/** When it is due next; undefined when it is not enabled, or nothing is left. */
export const dueOfStart = ({ enabled, nextDue }: TimerStart): Instant | undefined =>
  enabled ? nextDue : undefined;

/** After the occurrence that was due has fired at `now`: the next one, if any is left. */
export function afterFiring(start: TimerStart, now: Instant): TimerStart {
  const { nextDue: previousDue, ...rest } = start;
  const left = start.left === "unbounded" ? start.left : start.left - 1;
  const fired = { ...rest, n: start.n + 1, left };
  if (left === 0 || previousDue === undefined) return fired;
  const zone = start.zone === undefined ? undefined : readable(start, parseTimeZone(start.zone));
  const cycle = readable(start, parseStoredCycle(start.text, zone));
  return { ...fired, nextDue: nextOfCycle(cycle, { previousDue, now }) };
}

/** The item of a start event under this version; what is armed is looked at when it is due. */
export function itemOf(world: World, start: TimerStart, version: number): Item {
  const { tenant } = world.settings;
  const { definitionId, element, isStopped } = start;
  const lookAt = dueOfStart(start);
  return {
    key: timerStartKey(tenant, start),
    version,
    body: encodeBody("timer-start", start),
    ...(lookAt !== undefined && { lookAt }),
    ...(!isStopped && {
      listed: { view: schedulesView(tenant), order: scheduleOrder(definitionId, element) },
    }),
  };
}

/** The first version of an item in a run: above every version of the runs before. */
export const firstVersionOf = (run: number): number => run * WRITES_PER_RUN;

const WRITES_PER_RUN = 2 ** 32;

export const parseTimerStart = parserOf<TimerStart>("timer-start");

export type StoredStart = Readonly<{ item: Item; start: TimerStart }>;

export async function readTimerStart(world: World, key: Key): Promise<StoredStart | undefined> {
  const [item] = await world.store.get([key]);
  return item && { item, start: parseTimerStart(item.body) };
}

/** The next occurrence of a start event, by its name. */
export function occurrenceOf(world: World, start: TimerStart): Omit<TimerStartMessage, "kind"> {
  const { definitionId, hash, element, run, n } = start;
  return { tenant: world.settings.tenant, definitionId, hash, element, run, n };
}

/** Whether the start event is armed for this occurrence: it is the next one, and enabled. */
export function isAwaited(
  start: TimerStart,
  { run, n }: Pick<TimerStartMessage, "run" | "n">,
): start is TimerStart & Readonly<{ nextDue: Instant }> {
  if (!start.enabled) return false;
  return start.run === run && start.n === n && start.nextDue !== undefined;
}

/**
 * The write that counts the occurrence which a start was carried for; undefined when it has been
 * counted already, or will never be: its start event was disabled, replaced or removed.
 */
export async function firedWrite(
  world: World,
  { definition, fact, timer }: CarriedStart,
): Promise<Write | undefined> {
  const element = fact.input.trigger?.element;
  if (timer === undefined || element === undefined) return undefined;
  const { id: definitionId, hash } = definition;
  const key = timerStartKey(world.settings.tenant, { definitionId, hash, element });
  const found = await readTimerStart(world, key);
  if (found === undefined || !isAwaited(found.start, timer)) return undefined;
  const { item, start } = found;
  const put = itemOf(world, afterFiring(start, timer.at), item.version + 1);
  return { put, when: { version: item.version } };
}

/** The text that a start event says; an expression is evaluated with nothing but the time. */
async function textOf(
  world: World,
  definitionId: string,
  { element, timer }: Arming["event"],
): Promise<string> {
  const given = { now: world.clock.now(), seed: `${definitionId}:${element}` };
  const { value } = timer;
  const evaluation = await evaluateComputed(value, world.expressions, () => undefined, given);
  const result = resultOf("string", value.kind === "feel" ? value.text : "", evaluation);
  if (result.ok) return result.value;
  throw unreadable(element, result.problem, "Correct the expression.");
}

function readable<T>({ element }: Pick<TimerStart, "element">, parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw unreadable(element, parsed.problem, parsed.hint);
}

const unreadable = (element: string, problem: string, hint: string): EngineError =>
  new EngineError("definition/invalid", {
    happened: `The start event cannot be armed: ${problem}`,
    where: `element ${element}`,
    fix: hint,
  });
