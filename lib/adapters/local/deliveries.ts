// How the queues of this process deliver. Invariants:
//
// 1. What was added stays until its verdict is "release": it is never lost while the process lives.
// 2. Items of one lane are delivered in order, one batch at a time; lanes take turns.
// 3. An item that is kept or failed goes to the front of its lane, and the lane pauses: never a hot
//    loop. The pause is real time whatever clock the engine has.
// 4. A failed item is retried alone. When that has failed too often, and not because of the store,
//    it is delivered to be set aside: a poisoned item does not block its lane for ever.

import { MAX_FAILED_DELIVERIES } from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Invocation, Verdict } from "../../ports/message.ts";
import type { Activity, Work, Workplace } from "./activity.ts";
import type { Agenda, Waiting } from "./agenda.ts";
import { DueHeap } from "./due-heap.ts";
import { Fifo } from "./fifo.ts";
import { growingPauseMs } from "./growing-pause.ts";

/** The shortest time that a kept message stays away. */
export const MIN_KEEP_MS = 5;

/** A failure that will be retried; it is reported here only. */
export type Trouble = Readonly<{ error: unknown; about: string; retryInMs: number }>;

/** What every queue of a process shares. */
export type Surroundings = Readonly<{
  /** By the clock of the engine: for due instants. */
  agenda: Agenda;
  /** By a clock that never jumps: for retries. */
  pauses: Agenda;
  activity: Activity;
  /** Must not throw. */
  onTrouble: (trouble: Trouble) => void;
}>;

export type DeliveryRules<T> = Readonly<{
  concurrency: number;
  /** Most items of a lane in one delivery. */
  batch: number;
  /** The lane of an item; undefined: each has its own. */
  laneOf?: (item: T) => string;
  /** The name of an item, to finish "… is running". */
  nameOf: (item: T) => string;
  /** When to start with added items; after the running callback by default. */
  soon?: (begin: () => void) => void;
  onReleased?: (item: T) => void;
  /** A delivery has ended, whatever its outcome. */
  onSettled?: () => void;
}>;

/** Delivers a batch; the verdicts are in its order. */
export type Deliver<T> = (
  items: readonly [T, ...T[]],
  how: Pick<Invocation, "aside">,
) => Promise<readonly Verdict[]>;

/** Delivers items with bounded concurrency until each is released. */
export class Deliveries<T> implements Waiting, Workplace {
  readonly #surroundings: Surroundings;
  readonly #rules: DeliveryRules<T>;
  readonly #lanes = new Set<Lane<T>>();
  readonly #named = new Map<string, Lane<T>>();
  readonly #ready = new Fifo<Lane<T>>();
  readonly #paused = new DueHeap<Lane<T>>();
  #deliver: Deliver<T> | undefined;
  #running = 0;
  #load = 0;
  #count = 0;
  #isPumping = false;
  #isStopped = false;

  constructor(surroundings: Surroundings, rules: DeliveryRules<T>) {
    this.#surroundings = surroundings;
    this.#rules = rules;
    surroundings.pauses.add(this);
  }

  get load(): number {
    return this.#load;
  }

  get running(): number {
    return this.#running;
  }

  /** Lanes that are running or ready; paused ones do not count. */
  get active(): number {
    return this.#running + this.#ready.size;
  }

  /** Starts to deliver; items that were added before come first. */
  start(deliver: Deliver<T>): void {
    this.#deliver = deliver;
    this.#pumpSoon();
  }

  /** Delivers nothing more; running deliveries continue. */
  stop(): void {
    this.#isStopped = true;
  }

  /** With `afterMs` the lane pauses first, unless something is in it already. */
  add(item: T, afterMs = 0): void {
    const lane = this.#laneFor(item);
    lane.waiting.push(item);
    this.#load++;
    if (lane.state !== "empty") return;
    if (afterMs > 0) this.#pause(lane, afterMs);
    else this.#makeReady(lane);
  }

  *left(): Iterable<Work> {
    for (const lane of this.#lanes) {
      for (const item of lane.running) yield this.#work(lane, item, "is running");
      const why = lane.state === "paused" ? "waits to be tried again" : "is queued";
      for (const item of lane.waiting) yield this.#work(lane, item, why);
    }
  }

  nextDue(): Instant | undefined {
    return this.#isStopped ? undefined : this.#paused.earliest;
  }

  wake(now: Instant): void {
    for (;;) {
      const due = this.#paused.takeDue(now);
      if (due === undefined) return;
      this.#makeReady(due.item);
    }
  }

  #laneFor(item: T): Lane<T> {
    const name = this.#rules.laneOf?.(item);
    const known = name === undefined ? undefined : this.#named.get(name);
    if (known !== undefined) return known;
    const lane = newLane<T>(`${++this.#count}`, name);
    this.#lanes.add(lane);
    if (name !== undefined) this.#named.set(name, lane);
    return lane;
  }

  #makeReady(lane: Lane<T>): void {
    lane.state = "ready";
    this.#ready.push(lane);
    this.#pumpSoon();
  }

  /** Not at once: the caller is in the middle of a step of its own. */
  #pumpSoon(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    const { soon = queueMicrotask } = this.#rules;
    soon(() => {
      this.#isPumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    const deliver = this.#deliver;
    while (deliver !== undefined && !this.#isStopped && this.#running < this.#rules.concurrency) {
      const [lane] = this.#ready.take(1);
      if (lane === undefined) return;
      void this.#run(lane, deliver); // settles everything itself, and never rejects
    }
  }

  async #run(lane: Lane<T>, deliver: Deliver<T>): Promise<void> {
    const [first, ...rest] = lane.waiting.take(lane.failures > 0 ? 1 : this.#rules.batch);
    if (first === undefined) return;
    const items: readonly [T, ...T[]] = [first, ...rest];
    lane.state = "running";
    lane.running = items;
    this.#running++;
    const result = await attempt(deliver, items, asideIn(lane));
    lane.running = [];
    this.#running--;
    if ("error" in result) this.#failed(lane, items, result.error);
    else this.#judged(lane, items, result.verdicts);
    this.#rules.onSettled?.();
    this.#pumpSoon();
  }

  #failed(lane: Lane<T>, items: readonly [T, ...T[]], error: unknown): void {
    lane.failures++;
    if (!isPassing(error)) lane.strikes++;
    lane.waiting.putBack(items);
    const retryInMs = growingPauseMs(lane.failures);
    this.#pause(lane, retryInMs);
    if (!this.#isStopped) {
      this.#surroundings.onTrouble({ error, about: this.#rules.nameOf(items[0]), retryInMs });
    }
    this.#surroundings.activity.changed();
  }

  #judged(lane: Lane<T>, items: readonly T[], verdicts: readonly Verdict[]): void {
    lane.failures = 0;
    lane.strikes = 0;
    const kept: T[] = [];
    let pauseMs = Number.POSITIVE_INFINITY;
    for (const [n, item] of items.entries()) {
      const verdict = verdicts[n];
      if (verdict === "release") this.#release(item);
      else {
        kept.push(item);
        pauseMs = Math.min(pauseMs, Math.max(verdict?.keepForMs ?? 0, MIN_KEEP_MS));
      }
    }
    lane.waiting.putBack(kept);
    // The lane resumes when the first of the kept items may run: the others are only kept again.
    if (kept.length > 0) this.#pause(lane, pauseMs);
    else if (lane.waiting.size > 0) this.#makeReady(lane);
    else this.#drop(lane);
    this.#surroundings.activity.changed(kept.length < items.length ? "progress" : undefined);
  }

  #release(item: T): void {
    this.#load--;
    this.#rules.onReleased?.(item);
  }

  #pause(lane: Lane<T>, ms: number): void {
    lane.state = "paused";
    const { pauses } = this.#surroundings;
    this.#paused.add(lane, instantFrom(pauses.now() + ms));
    pauses.look();
  }

  #drop(lane: Lane<T>): void {
    lane.state = "empty";
    this.#lanes.delete(lane);
    if (lane.name !== undefined) this.#named.delete(lane.name);
  }

  #work(lane: Lane<T>, item: T, state: string): Work {
    const name = this.#rules.nameOf(item);
    return { id: `${lane.id} ${name}`, what: `${name} ${state}` };
  }
}

type Lane<T> = {
  readonly id: string;
  readonly name: string | undefined;
  readonly waiting: Fifo<T>;
  running: readonly T[];
  failures: number;
  /** Those of them that are the message's own fault. */
  strikes: number;
  state: "empty" | "ready" | "running" | "paused";
};

function newLane<T>(id: string, name: string | undefined): Lane<T> {
  return { id, name, waiting: new Fifo(), running: [], failures: 0, strikes: 0, state: "empty" };
}

/** Something was full or busy, which passes: the message is not at fault. */
const isPassing = (error: unknown): boolean => error instanceof EngineError && error.retryable;

function asideIn({ strikes }: Lane<unknown>): Pick<Invocation, "aside"> {
  if (strikes < MAX_FAILED_DELIVERIES) return {};
  return { aside: `it has failed ${strikes} times in a row` };
}

async function attempt<T>(
  deliver: Deliver<T>,
  items: readonly [T, ...T[]],
  how: Pick<Invocation, "aside">,
) {
  try {
    return { verdicts: await deliver(items, how) };
  } catch (error) {
    return { error };
  }
}
