// Which steps were running when a process crashed, in a small file of the data folder. Invariants:
//
// 1. The file exists while an engine has the folder open, and is removed on a clean shutdown: a
//    file that is found is from a crashed run. A run that follows no crash counts and writes
//    nothing.
// 2. A step has a slot in the file before it starts. Nothing is flushed: what was written outlives
//    the process, and a power cut is not caused by a step.
// 3. Steps that were running at one crash are started a few at a time, after a second crash alone
//    and after a pause, and after the last one they are poisoned. So a step that crashes the
//    process is soon alone in the file.
// 4. The counts are dropped when all of these steps have been worked off without a crash.

import {
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import {
  MAX_DEATHS_WITH_STEP,
  MAX_SUSPECTS_AT_ONCE,
  PAUSE_BEFORE_ALONE_MS,
  WATCHED_HANDLER_MS,
} from "../../definition/limits.ts";
import type { Alarm } from "../../ports/alarm.ts";
import type { Clock } from "../../ports/clock.ts";
import type { StepWatch, Watched, WatchedStep } from "../../ports/step-watch.ts";

export type StepJournalOptions = Readonly<{
  /** The data folder, which this process owns already. */
  folder: string;
  /** A clock that never jumps. */
  steady: Pick<Clock, "now">;
  alarm: Alarm;
}>;

/** A step that was running when the process crashed. */
export type Suspect = Readonly<{ instanceId: string; name: string; deaths: number }>;

/** Reads the file of an earlier run, and watches steps if that run crashed. */
export function openStepJournal(options: StepJournalOptions): StepJournal {
  const file = join(options.folder, "steps.log");
  const hasDied = existsSync(file);
  const suspects = hasDied ? readSuspects(readFileSync(file, "utf8")) : [];
  return new StepJournal(file, { ...options, hasDied, suspects });
}

export class StepJournal implements StepWatch {
  readonly #file: string;
  readonly #fd: number;
  readonly #steady: StepJournalOptions["steady"];
  readonly #alarm: Alarm;
  readonly #openedAt: number;
  readonly #places = new Map<string, Place>();
  readonly #free: number[] = [];
  #isWatching: boolean;
  #slots = 0;

  constructor(
    file: string,
    {
      steady,
      alarm,
      hasDied,
      suspects,
    }: StepJournalOptions & Readonly<{ hasDied: boolean; suspects: readonly Suspect[] }>,
  ) {
    this.#file = file;
    this.#steady = steady;
    this.#alarm = alarm;
    this.#openedAt = steady.now();
    this.#isWatching = hasDied;
    this.#fd = openSync(file, "w");
    for (const { deaths, ...step } of suspects) this.#write(this.#placeFor(step, deaths));
  }

  /** Steps of earlier crashes that have not been worked off yet. */
  get suspects(): readonly Suspect[] {
    const places = [...this.#places.values()].filter(({ deaths }) => deaths > 0);
    return places.map(({ step: { instanceId, name }, deaths }) => ({ instanceId, name, deaths }));
  }

  begin(step: WatchedStep): Watched | undefined {
    if (!this.#isWatching) return undefined;
    const known = this.#places.get(keyOf(step));
    if (known !== undefined && known.uses === 0) {
      if (known.deaths >= MAX_DEATHS_WITH_STEP) return { kind: "poisoned", deaths: known.deaths };
      const forMs = this.#waitsFor(known, step);
      if (forMs > 0) return { kind: "later", forMs };
    }
    return this.#begun(known ?? this.#placeFor(step, 0), step.isTask === true);
  }

  /** Everything was worked off without a crash: nothing is counted from here on. */
  relax(): void {
    if (!this.#isWatching) return;
    this.#isWatching = false;
    this.#places.clear();
    ftruncateSync(this.#fd);
  }

  /** A clean shutdown; suspects that were not retried yet are kept. */
  close(): void {
    const left = [...this.#places.values()].filter(
      (place) => place.deaths > 0 && !place.isSurvived,
    );
    this.#isWatching = false;
    ftruncateSync(this.#fd);
    for (const place of left) this.#write({ ...place, uses: 0 });
    closeSync(this.#fd);
    if (left.length === 0) rmSync(this.#file, { force: true });
  }

  /**
   * Alone after a second crash, before that a few handlers at a time; decisions do not overlap
   * anyway.
   */
  #waitsFor({ deaths }: Place, { isTask }: WatchedStep): number {
    const others = [...this.#places.values()].filter((it) => it.uses > 0 && it.deaths > 0);
    if (deaths < 2) return isTask && others.length >= MAX_SUSPECTS_AT_ONCE ? TURN_MS : 0;
    const pauseMs = this.#openedAt + PAUSE_BEFORE_ALONE_MS - this.#steady.now();
    return pauseMs > 0 || others.length === 0 ? pauseMs : TURN_MS;
  }

  #begun(place: Place, isTask: boolean): Watched {
    place.uses += 1;
    if (place.uses === 1) this.#write(place);
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      callOff();
      this.#end(place);
    };
    const callOff = isTask ? this.#alarm(WATCHED_HANDLER_MS, end) : () => {};
    return { kind: "begun", end };
  }

  #end(place: Place): void {
    place.uses -= 1;
    if (place.uses > 0 || !this.#isWatching) return;
    place.isSurvived = true;
    if (place.deaths === 0) {
      this.#places.delete(keyOf(place.step));
      this.#free.push(place.slot);
    }
    this.#write(place);
  }

  #placeFor(step: WatchedStep, deaths: number): Place {
    const slot = this.#free.pop() ?? this.#slots++;
    const place = { step, deaths, slot, uses: 0, isSurvived: false };
    this.#places.set(keyOf(step), place);
    return place;
  }

  /**
   * A step that does not fit, or finds no room on the disk, is not counted; nothing else depends on
   * it.
   */
  #write({ step: { instanceId, name }, deaths, slot, uses }: Place): void {
    const isEmpty = deaths === 0 && uses === 0;
    const text = isEmpty ? "" : JSON.stringify([instanceId, name, deaths, uses > 0 ? 1 : 0]);
    const line = Buffer.alloc(SLOT_BYTES, " ");
    if (Buffer.byteLength(text) < SLOT_BYTES) line.write(text);
    line[SLOT_BYTES - 1] = NEWLINE;
    try {
      writeSync(this.#fd, line, 0, SLOT_BYTES, slot * SLOT_BYTES);
    } catch {
      // The store reports a full disk.
    }
  }
}

type Place = {
  readonly step: WatchedStep;
  readonly deaths: number;
  readonly slot: number;
  /** How often it is running: a handler, and the step that follows from it. */
  uses: number;
  /** It has run in this process without a crash. */
  isSurvived: boolean;
};

/** How often to check whether a waiting step may run. */
const TURN_MS = 100;

const SLOT_BYTES = 1_024;
const NEWLINE = 10;

const keyOf = ({ instanceId, name }: WatchedStep): string => `${instanceId}\0${name}`;

function readSuspects(text: string): readonly Suspect[] {
  return text.split("\n").flatMap((line) => suspectIn(line) ?? []);
}

/** Undefined for a line that is truncated or unknown. */
function suspectIn(line: string): Suspect | undefined {
  if (line.trim() === "") return undefined;
  try {
    const read: unknown = JSON.parse(line);
    if (!Array.isArray(read)) return undefined;
    const [instanceId, name, before, underWay] = read.map((part: unknown) => part);
    if (typeof instanceId !== "string" || typeof name !== "string") return undefined;
    if (typeof before !== "number" || typeof underWay !== "number") return undefined;
    return { instanceId, name, deaths: before + underWay };
  } catch {
    return undefined;
  }
}
