import { type HandlerRuns, HandlerRuns as Runs } from "../../lib/adapters/handlers/handler-runs.ts";
import type { Trouble } from "../../lib/adapters/local/deliveries.ts";
import type { DueIndex } from "../../lib/adapters/local/index-passes.ts";
import { openQueues, type Queues, type QueuesOptions } from "../../lib/adapters/local/queues.ts";
import type { Instant } from "../../lib/definition/time/instant.ts";
import type { Ids } from "../../lib/ports/ids.ts";
import type { Key } from "../../lib/ports/store.ts";
import { ManualTime } from "./manual-time.ts";

/** Queues on manual time, with what a test wants to read. */
export type TestQueues = Readonly<{
  queues: Queues;
  time: ManualTime;
  index: FakeIndex;
  runs: HandlerRuns;
  troubles: Trouble[];
}>;

/** Opens queues that only the test moves. */
export function openTestQueues(
  options: Partial<QueuesOptions> & Readonly<{ time?: ManualTime }> = {},
): TestQueues {
  const { time = new ManualTime(), ...others } = options;
  const index = new FakeIndex();
  const runs = new Runs({ alarm: time.alarm });
  const troubles: Trouble[] = [];
  const queues = openQueues({
    clock: time,
    steady: time.steady,
    alarm: time.alarm,
    ids: countingIds(),
    index,
    keyOf: ({ instanceId }) => keyOfInstance(instanceId),
    handlers: new Map(),
    runs,
    onTrouble: (trouble) => troubles.push(trouble),
    ...others,
  });
  return { queues, time, index, runs, troubles };
}

/** Where a test's instances are stored. */
export function keyOfInstance(instanceId: string): Key {
  return { pk: `default#I#${instanceId}`, sk: "S" };
}

export function instanceOfKey({ pk }: Key): string {
  return pk.slice("default#I#".length);
}

/** A due index in memory that counts how often it is read. */
export class FakeIndex implements DueIndex {
  readonly #due = new Map<string, Due>();
  #listener: (dueAt: Instant) => void = () => {};
  reads = 0;
  failure: Error | undefined;

  /** Of an instance, or of whatever is stored at a key; watchers are not notified. */
  set(of: string | Key, dueAt: Instant | undefined): void {
    const key = typeof of === "string" ? keyOfInstance(of) : of;
    if (dueAt === undefined) this.#due.delete(nameOf(key));
    else this.#due.set(nameOf(key), { key, dueAt });
  }

  /** As a commit does: watchers of the index are notified. */
  commit(of: string | Key, dueAt: Instant): void {
    this.set(of, dueAt);
    this.#listener(dueAt);
  }

  watchDue(listener: (dueAt: Instant) => void): void {
    this.#listener = listener;
  }

  earliestDue(after: Instant): Instant | undefined {
    this.reads++;
    return this.#sorted().find(({ dueAt }) => dueAt > after)?.dueAt;
  }

  async dueBetween({
    after,
    until,
    limit,
    cursor,
  }: Parameters<DueIndex["dueBetween"]>[0]): ReturnType<DueIndex["dueBetween"]> {
    this.reads++;
    if (this.failure !== undefined) throw this.failure;
    const due = this.#sorted()
      .filter(({ dueAt }) => dueAt > after && dueAt <= until)
      .filter((entry) => cursor === undefined || placeOf(entry) > cursor);
    const page = due.slice(0, limit);
    const last = page.at(-1);
    const items = page.map(({ key }) => key);
    return due.length > limit && last !== undefined ? { items, next: placeOf(last) } : { items };
  }

  #sorted(): readonly Due[] {
    return [...this.#due.values()].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  }
}

type Due = Readonly<{ key: Key; dueAt: Instant }>;

function placeOf({ key, dueAt }: Due): string {
  return `${String(dueAt).padStart(16, "0")} ${nameOf(key)}`;
}

function nameOf({ pk, sk }: Key): string {
  return `${pk} ${sk}`;
}

function countingIds(): Ids {
  let count = 0;
  return { fresh: () => `fresh-${++count}`, digest: (text) => `digest-of-${text}` };
}
