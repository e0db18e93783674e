import type { Queues } from "../adapters/local/queues.ts";
import type { LocalStore } from "../adapters/local/store.ts";
import type { InstanceView } from "../api/wait-calls.ts";
import { checkedValue } from "../definition/parsed.ts";
import { parseDuration } from "../definition/time/duration.ts";
import { formatInstant } from "../definition/time/instant.ts";
import type { Engine } from "../engine/engine.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { RecoveryReport } from "../shapes/reports.ts";
import type { Work } from "./begin-work.ts";
import { checkArguments } from "./check-arguments.ts";
import type { EndWatch } from "./end-watch.ts";
import type { FiredTimers } from "./fired-timers.ts";
import { type LibraryCalls, libraryCalls } from "./library-calls.ts";
import { CALLS } from "./library-shapes.ts";
import { own } from "./own-copy.ts";
import type { Result } from "./typed-workflows.ts";

/** The engine as a library: a method for every call of the API, and what only a library can offer. */
export type EmbeddedEngine = LibraryCalls &
  Pick<Engine, "recover"> &
  Readonly<{
    result: Result;
    /** Resolves when the instance has ended or time is up. */
    waitForEnd(instanceId: string, timeoutMs: number): Promise<void>;
    /** Moves a virtual clock, and resolves when nothing due, parked or running is left. */
    advanceClock(by: string): Promise<ClockAdvance>;
    /** Resolves when nothing is due, parked, queued or running. */
    idle(): Promise<void>;
    /** The recovery report of the opening, as soon as it is known. */
    recovered: Promise<RecoveryReport>;
    /** Starts the background work only when this is settled, such as a server that listens. */
    beginAfter(ready: Promise<unknown>): void;
    /** Throws the error given to `onStopped`, once the engine has stopped; reads nothing. */
    checkRunning(): void;
    /** The engine itself, for an HTTP server. */
    engine: Engine;
    /** The store's own counters since it was opened: items read, commits, their writes and bytes. */
    counters(): Readonly<{ reads: number; commits: number; writes: number; bytes: number }>;
    isVirtual: boolean;
    /** Lets running steps finish, then releases the folder. Closing twice is harmless. */
    close(options?: { graceMs?: number }): Promise<void>;
  }>;

/** What a worker of `fermata-engine/client` needs, without HTTP in between. */
export function workerDoor(engine: LibraryCalls) {
  return {
    activate: engine.activate,
    heartbeat: engine.heartbeat,
    completeTask: (
      taskId: string,
      request: NonNullable<Parameters<LibraryCalls["complete"]>[1]>,
      { idempotencyKey }: Readonly<{ idempotencyKey?: string }> = {},
    ) => engine.complete(taskId, request, idempotencyKey),
    failTask: (
      taskId: string,
      request: Parameters<LibraryCalls["fail"]>[1],
      { idempotencyKey }: Readonly<{ idempotencyKey?: string }> = {},
    ) => engine.fail(taskId, request, idempotencyKey),
  };
}

/** `left` describes the work that was still running. */
export type ClockAdvance = Readonly<{ now: string; fired: number; left: readonly string[] }>;

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_GRACE_MS = 10_000;

export function embeddedEngine({
  engine,
  queues,
  store,
  ends,
  work,
  fired,
  checkRunning = () => {},
  onClosing,
  onAdvanced,
}: Readonly<{
  engine: Engine;
  queues: Queues;
  store: LocalStore;
  ends: EndWatch;
  work: Work;
  fired: FiredTimers;
  /** Throws the reason when the engine has stopped. */
  checkRunning?: () => void;
  /** Called when the engine begins to close, before the store does. */
  onClosing: () => void;
  /** Called when a virtual clock has been moved. */
  onAdvanced?: () => void;
}>): EmbeddedEngine {
  const waitForEnd = async (instanceId: string, timeoutMs: number): Promise<void> => {
    const watch = ends.wait(instanceId, timeoutMs);
    try {
      // Read after the watch began, so that an end in between is not missed.
      if (!(await hasEnded(engine, instanceId))) await watch.ended;
    } finally {
      watch.stop();
    }
  };
  const closeAll = async (graceMs: number): Promise<void> => {
    await work.stop();
    await queues.close({ graceMs });
    work.end();
    await store.close();
  };
  let closing: Promise<void> | undefined;
  return {
    ...libraryCalls(engine),
    recover: engine.recover,
    result: async (of: string | InstanceView, options?: Readonly<{ timeoutMs?: number }>) => {
      const instanceId = typeof of === "object" && of !== null ? of.instanceId : of;
      checkArguments(CALLS.result, { instanceId, options });
      await waitForEnd(instanceId, options?.timeoutMs ?? DEFAULT_TIMEOUT_MS);
      return own(await engine.result(instanceId));
    },
    waitForEnd: async (instanceId, timeoutMs) => {
      checkArguments(CALLS.waitForEnd, { instanceId, timeoutMs });
      return waitForEnd(instanceId, timeoutMs);
    },
    advanceClock: async (by) => {
      if (queues.advance === undefined) throw notVirtual();
      checkArguments(CALLS.advanceClock, { by });
      const duration = checkedValue(parseDuration(by));
      await work.begun;
      const before = fired.count;
      const { now, left } = await queues.advance(duration);
      onAdvanced?.();
      return { now: formatInstant(now), fired: fired.count - before, left };
    },
    idle: () => work.begun.then(() => queues.idle()),
    recovered: work.recovered,
    beginAfter: work.beginAfter,
    checkRunning,
    engine,
    counters: () => {
      const { reads, commits, writes, bytes } = store;
      return { reads, commits, writes, bytes };
    },
    isVirtual: queues.advance !== undefined,
    close: async (options) => {
      checkArguments(CALLS.close, { options });
      ends.close();
      onClosing();
      const graceMs = options?.graceMs ?? DEFAULT_GRACE_MS;
      closing ??= closeAll(graceMs);
      return closing;
    },
  };
}

async function hasEnded(engine: Engine, instanceId: string): Promise<boolean> {
  const { endedAt } = await engine.get(instanceId);
  return endedAt !== undefined;
}

function notVirtual(): EngineError {
  return new EngineError("request/clock-not-virtual", {
    happened: "The clock is real: it cannot be told to move",
    where: "clock",
    fix: 'Open the engine with a virtual clock: `fermata dev --clock virtual`, or clock: "virtual".',
  });
}
