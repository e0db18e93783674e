// One loop handles everything that is due. Invariants:
//
// 1. The store's due index is read when something is due by it, in passes from its oldest key to
//    now; in between only the next instant is known. So a waiting timer costs no memory. The loop
//    does not care whose key it is (an instance, a mailbox, a kept event, a broadcast).
// 2. Instant 0 is skipped: unsent obligations are checked when the engine opens. As that hides the
//    timers of an instance from the index, they are held in a heap of armed timers as well. One that is
//    disarmed after it has become due, and before it was handled, is not handled.
// 3. A new instant in the index is armed explicitly, or the index reports it: the loop never polls.
// 4. A key that is still due after it was handled without a timer firing rests, longer each time.
//    That is not reported as trouble while a queue may hold a message sent for it: until that is
//    handled, the key stays due.

import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Invocation, TimerMessage, Verdict } from "../../ports/message.ts";
import type { Key } from "../../ports/store.ts";
import type { ArmedStart, ArmedTimer, Timers } from "../../ports/timers.ts";
import type { Activity, Work, Workplace } from "./activity.ts";
import type { Agenda, Waiting } from "./agenda.ts";
import { type Armed, ArmedHeap } from "./armed-heap.ts";
import { Deliveries, type Surroundings } from "./deliveries.ts";
import { type DueIndex, IndexPasses, OWING } from "./index-passes.ts";
import type { Invocations } from "./invocations.ts";
import { type QueuedTimer, QueuedTimers } from "./queued-timers.ts";
import { MAX_RESTING_KEYS, RestingKeys } from "./resting-keys.ts";

/** How long a commit of something already due has to handle it before the loop checks. */
export const HEAD_START_MS = 2_000;

/** The consumer of due timers and keys. */
export type TimerConsumer = Readonly<{
  /**
   * Something is due at this key; returns how many timers fired. More than 0 means that the key has
   * moved, and if it is still due it is handled again at once. A handler that only queued a message
   * returns 0.
   */
  onDue(key: Key, invocation: Invocation): Promise<number>;
  onTimer(message: TimerMessage, invocation: Invocation): Promise<Verdict>;
}>;

/** Timers by one loop over the due index of the store. */
export class TimerLoop implements Timers, Waiting, Workplace {
  readonly #agenda: Agenda;
  readonly #pauses: Agenda;
  readonly #activity: Activity;
  readonly #onTrouble: Surroundings["onTrouble"];
  readonly #invocations: Invocations;
  readonly #index: DueIndex;
  readonly #concurrency: number;
  readonly #mayBeQueued: () => boolean;
  readonly #deliveries: Deliveries<Delivery>;
  readonly #armed = new ArmedHeap();
  readonly #queued = new QueuedTimers();
  readonly #resting: RestingKeys;
  readonly #held = new Set<string>();
  readonly #passes: IndexPasses;
  #nextDue: Instant | undefined;
  #lookAgainAt: Instant | undefined;
  #fired = 0;
  #consumer: TimerConsumer | undefined;

  constructor({
    invocations,
    index,
    keyOf,
    concurrency,
    mayBeQueued,
    ...surroundings
  }: Surroundings &
    Readonly<{
      invocations: Invocations;
      index: DueIndex;
      /** Where the instance of a timer is stored: it is not handled twice concurrently. */
      keyOf: (timer: Pick<TimerMessage, "tenant" | "instanceId">) => Key;
      concurrency: number;
      /** Whether a queue holds a message that may have been sent for a due key. */
      mayBeQueued: () => boolean;
    }>) {
    this.#agenda = surroundings.agenda;
    this.#pauses = surroundings.pauses;
    this.#activity = surroundings.activity;
    this.#onTrouble = surroundings.onTrouble;
    this.#invocations = invocations;
    this.#index = index;
    this.#concurrency = concurrency;
    this.#mayBeQueued = mayBeQueued;
    this.#deliveries = new Deliveries<Delivery>(surroundings, {
      concurrency,
      batch: 1,
      laneOf: (delivery) => nameOf("key" in delivery ? delivery.key : keyOf(delivery.timer)),
      nameOf: describe,
      onReleased: (delivery) => this.#released(delivery),
      onSettled: () => this.#passes.goOn(),
    });
    this.#resting = new RestingKeys(this.#pauses, () => this.#beginPass());
    this.#passes = new IndexPasses(
      { index, ...surroundings },
      {
        hasRoom: () => this.#hasRoom(),
        onBegin: () => this.#resting.beginPass(),
        onKeys: (keys) => this.#found(keys),
        onEnd: (pass) => this.#passed(pass),
      },
    );
    this.#pauses.add({ nextDue: () => this.#lookAgainAt, wake: () => this.#lookAgain() });
    this.#activity.add(this);
    index.watchDue?.((dueAt) => this.#told(dueAt));
  }

  /** Timers fired since the loop was made. */
  get fired(): number {
    return this.#fired;
  }

  get load(): number {
    return this.#deliveries.load + this.#resting.size + (this.#passes.isPassing ? 1 : 0);
  }

  get running(): number {
    return this.#deliveries.running;
  }

  /** The index holds every armed start event: of these only the next instant is kept here. */
  async arm({ covered, dueAt, ...timer }: ArmedTimer | ArmedStart): Promise<void> {
    if (!("instanceId" in timer)) {
      this.#mayBeDue(dueAt);
    } else if (covered) {
      this.#forget(timer);
      this.#mayBeDue(dueAt);
    } else {
      this.#armed.put(timer, dueAt);
      this.#agenda.look();
    }
  }

  async disarm(timer: Parameters<Timers["disarm"]>[0]): Promise<void> {
    if ("instanceId" in timer) this.#forget(timer);
  }

  /** Starts with what is due already, however long ago. */
  consume(consumer: TimerConsumer): void {
    this.#consumer = consumer;
    this.#deliveries.start(async ([delivery], how) => [await this.#hand(delivery, consumer, how)]);
    this.#agenda.add(this);
    this.#beginPass();
  }

  stopDelivery(): void {
    this.#passes.stop();
    this.#deliveries.stop();
  }

  *left(): Iterable<Work> {
    yield* this.#deliveries.left();
    for (const name of this.#resting.names()) {
      yield {
        id: `resting ${name}`,
        what: `${withoutNul(name)} was looked at, but is still due`,
      };
    }
    if (this.#passes.isPassing) yield { id: "due", what: "what is due is looked for" };
  }

  nextDue(): Instant | undefined {
    return earlier(this.#armed.earliest, this.#nextDue);
  }

  wake(now: Instant): void {
    for (const timer of this.#armed.takeDue(now)) this.#deliveries.add(this.#queued.add(timer));
    if (this.#nextDue === undefined || this.#nextDue > now) return;
    this.#nextDue = undefined;
    this.#beginPass();
  }

  /** Not only what is armed: a commit may have taken what has just become due. */
  #forget(timer: Armed): void {
    this.#armed.remove(timer);
    this.#queued.drop(timer);
  }

  #mayBeDue(dueAt: Instant): void {
    if (this.#nextDue !== undefined && this.#nextDue <= dueAt) return;
    this.#nextDue = dueAt;
    this.#agenda.look();
  }

  /** A commit of something already due is about to handle it: the loop checks later whether it did. */
  #told(dueAt: Instant): void {
    if (dueAt <= OWING) return;
    if (dueAt > this.#agenda.now()) this.#mayBeDue(dueAt);
    else if (this.#lookAgainAt === undefined) {
      this.#lookAgainAt = instantFrom(this.#pauses.now() + HEAD_START_MS);
      this.#pauses.look();
    }
  }

  #lookAgain(): void {
    this.#lookAgainAt = undefined;
    this.#beginPass();
  }

  #beginPass(): void {
    this.#passes.want();
    this.#passes.goOn();
  }

  #hasRoom(): boolean {
    if (this.#consumer === undefined || this.#deliveries.active >= this.#concurrency) return false;
    return this.#deliveries.load < MAX_RESTING_KEYS;
  }

  #found(keys: readonly Key[]): boolean {
    for (const key of keys) this.#met(key);
    return this.#resting.hasRoom;
  }

  #met(key: Key): void {
    const name = nameOf(key);
    if (this.#held.has(name)) return;
    const { mayBeHandled, restsForMs } = this.#resting.meet(name);
    if (restsForMs !== undefined && !this.#isPatient(restsForMs)) {
      this.#onTrouble(stillDue(name, restsForMs));
    }
    if (!mayBeHandled) return;
    this.#held.add(name);
    this.#deliveries.add({ key });
  }

  #isPatient(restsForMs: number): boolean {
    return restsForMs <= LONGEST_QUIET_REST_MS && this.#mayBeQueued();
  }

  #passed({ until, isWhole }: Readonly<{ until: Instant; isWhole: boolean }>): void {
    if (isWhole) this.#resting.endPass();
    this.#nextDue = earlier(this.#nextDue, this.#index.earliestDue(until));
    this.#agenda.look();
    this.#activity.changed();
  }

  async #hand(
    delivery: Delivery,
    consumer: TimerConsumer,
    how: Pick<Invocation, "aside">,
  ): Promise<Verdict> {
    if ("timer" in delivery && !this.#queued.begin(delivery)) return "release";
    return this.#invocations.during({ mayContinue: false, ...how }, async (invocation) => {
      if ("timer" in delivery) {
        const verdict = await consumer.onTimer(delivery.timer, invocation);
        if (verdict === "release") this.#fired++;
        return verdict;
      }
      const fired = await consumer.onDue(delivery.key, invocation);
      this.#fired += fired;
      if (fired > 0) this.#resting.forget(nameOf(delivery.key));
      else this.#resting.suspect(nameOf(delivery.key));
      return "release";
    });
  }

  /** Only another pass shows whether the key is due again, or still. */
  #released(delivery: Delivery): void {
    if ("timer" in delivery) {
      this.#queued.end(delivery);
      return;
    }
    this.#held.delete(nameOf(delivery.key));
    this.#passes.want();
  }
}

/** Busy queues are never empty: a key that needs longer rests is reported anyway. */
const LONGEST_QUIET_REST_MS = 8_000;

type Delivery = Readonly<{ key: Key }> | QueuedTimer;

function earlier(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a <= b ? a : b;
}

function nameOf({ pk, sk }: Key): string {
  return `${pk}\0${sk}`;
}

function withoutNul(name: string): string {
  return name.replace("\0", " / ");
}

function describe(delivery: Delivery): string {
  if ("key" in delivery) return `what is due at ${delivery.key.pk} / ${delivery.key.sk}`;
  return `timer ${delivery.timer.ticket} of instance ${delivery.timer.instanceId}`;
}

function stillDue(name: string, retryInMs: number) {
  const error = new Error(`${withoutNul(name)} is still due after it was handled`);
  return { error, about: withoutNul(name), retryInMs };
}
