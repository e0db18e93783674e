// A queue in memory for simulated worlds. Invariants:
//
// 1. A message stays until a delivery of it ends with "release" and that is not lost; the world may
//    duplicate, delay and lose messages, and decides what is delivered and when.
// 2. Nothing is delivered before its time by the queue's own clock.
// 3. A message in delivery is invisible for a while, then visible again, even if it still runs.

import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Verdict } from "../../ports/message.ts";

/** Where a send stops until the simulated world continues it. */
export type QueuePoint = "send:before" | "send:after";

/** What a world may answer at send:before. */
export type QueueFault =
  /** Two copies arrive. */
  | Readonly<{ fault: "duplicated" }>
  /** It becomes visible later than requested. */
  | Readonly<{ fault: "delayed"; byMs: number }>;

/** How a world takes part: called at every point with the message. */
export type QueueWorld<M> = Readonly<{
  turn?: (point: QueuePoint, message: M) => Promise<QueueFault | undefined>;
}>;

/** One message that is queued; copies of a message are several of these. */
export type Queued<M> = Readonly<{
  id: number;
  message: M;
  visibleAt: Instant;
  receives: number;
  isRunning: boolean;
}>;

/** What may go wrong with a delivery, apart from its consumer. */
export type DeliveryFault =
  /** The release is lost: the message comes back although it was handled. */
  "release-lost";

/** A queue whose every delivery the world chooses. */
export class SimulatedQueue<M> {
  readonly #clock: Pick<Clock, "now">;
  readonly #turn: QueueWorld<M>["turn"];
  readonly #visibilityMs: number;
  readonly #queued = new Map<number, Queued<M>>();
  #all: readonly Queued<M>[] | undefined;
  #count = 0;

  constructor({
    clock,
    turn,
    visibilityMs = 90_000,
  }: QueueWorld<M> & Readonly<{ clock: Pick<Clock, "now">; visibilityMs?: number }>) {
    this.#clock = clock;
    this.#turn = turn;
    this.#visibilityMs = visibilityMs;
  }

  /**
   * Everything in the queue, oldest first: for invariants and for worlds that choose. The same
   * array as long as nothing changes.
   */
  all(): readonly Queued<M>[] {
    this.#all ??= [...this.#queued.values()];
    return this.#all;
  }

  /** What may be delivered now, oldest first; a world that reorders picks another than the first. */
  ready(): readonly Queued<M>[] {
    const now = this.#clock.now();
    return this.all().filter(({ visibleAt }) => visibleAt <= now);
  }

  /** The instant at which the next message becomes visible. */
  nextVisible(): Instant | undefined {
    const now = this.#clock.now();
    const ahead = this.all().filter(({ visibleAt }) => visibleAt > now);
    return ahead.length === 0
      ? undefined
      : instantFrom(Math.min(...ahead.map(({ visibleAt }) => visibleAt)));
  }

  async send(message: M, notBefore?: Instant): Promise<void> {
    const fault = await this.#turn?.("send:before", message);
    const begin = Math.max(notBefore ?? 0, this.#clock.now());
    const visibleAt = instantFrom(begin + (fault?.fault === "delayed" ? fault.byMs : 0));
    this.#add(message, visibleAt);
    if (fault?.fault === "duplicated") this.#add(message, visibleAt);
    await this.#turn?.("send:after", message);
  }

  /** Delivers one message; rejects as its consumer does, and then the message comes back later. */
  async deliver(
    id: number,
    consumer: (message: M, receives: number) => Promise<Verdict>,
    fault?: DeliveryFault,
  ): Promise<void> {
    const queued = this.#queued.get(id);
    if (queued === undefined) return;
    const receives = queued.receives + 1;
    this.#put({ ...queued, receives, isRunning: true, visibleAt: this.#in(this.#visibilityMs) });
    try {
      const verdict = await consumer(queued.message, receives);
      if (verdict === "release" && fault === undefined) this.#remove(id);
      if (verdict !== "release") this.#hide(id, receives, verdict.keepForMs);
    } finally {
      this.#over(id, receives);
    }
  }

  /** Makes a message visible at once, even while it runs: its delivery took too long. */
  reveal(id: number): void {
    const queued = this.#queued.get(id);
    if (queued !== undefined) this.#put({ ...queued, visibleAt: this.#clock.now() });
  }

  /** The queue itself delivers twice: a second copy, which has to be released separately. */
  duplicate(id: number): void {
    const queued = this.#queued.get(id);
    if (queued !== undefined) this.#add(queued.message, this.#clock.now());
  }

  /** The host of this delivery crashed: the message returns after its visibility timeout. */
  abandon(id: number): void {
    const queued = this.#queued.get(id);
    if (queued !== undefined) this.#put({ ...queued, isRunning: false });
  }

  /** Drops matching messages: the memory of a crashed process, or a hint that never arrives. */
  lose(isLost: (queued: Queued<M>) => boolean = () => true): void {
    for (const queued of this.all()) if (isLost(queued)) this.#remove(queued.id);
  }

  #add(message: M, visibleAt: Instant): void {
    this.#put({ id: ++this.#count, message, visibleAt, receives: 0, isRunning: false });
  }

  /** Only the latest delivery may say when the message comes back. */
  #hide(id: number, receives: number, ms: number): void {
    const queued = this.#queued.get(id);
    if (queued === undefined || queued.receives !== receives) return;
    this.#put({ ...queued, visibleAt: this.#in(ms) });
  }

  #over(id: number, receives: number): void {
    const queued = this.#queued.get(id);
    if (queued?.receives === receives) this.#put({ ...queued, isRunning: false });
  }

  #put(queued: Queued<M>): void {
    this.#queued.set(queued.id, queued);
    this.#all = undefined;
  }

  #remove(id: number): void {
    this.#queued.delete(id);
    this.#all = undefined;
  }

  #in(ms: number): Instant {
    return instantFrom(this.#clock.now() + ms);
  }
}
