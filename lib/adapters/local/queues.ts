import { type Alarm, processAlarm } from "../../ports/alarm.ts";
import type { Bus } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Invocation, Message, TimerMessage, Verdict } from "../../ports/message.ts";
import type { Key } from "../../ports/store.ts";
import type { TaskHandler } from "../../ports/tasks.ts";
import { Activity } from "./activity.ts";
import { type Advance, clockAdvancer } from "./advance-clock.ts";
import { Agenda, noAlarm } from "./agenda.ts";
import { type AnnouncementListener, localBus } from "./bus.ts";
import type { Trouble } from "./deliveries.ts";
import type { DueIndex } from "./index-passes.ts";
import { Invocations } from "./invocations.ts";
import { type ParkedConsumer, ParkingQueue } from "./parking-queue.ts";
import { type RunningHandlers, TaskQueue } from "./task-queue.ts";
import { type TimerConsumer, TimerLoop } from "./timer-loop.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { DEFAULT_WORK_AT_ONCE, LocalWorkQueue } from "./work-queue.ts";

/** The default number of concurrent deliveries of each queue. */
export const DEFAULT_CONCURRENCY = 64;

/** How long a shutdown waits for steps that wait for nothing but the store. */
const LAST_STEPS_MS = 1_000;

/** What the queues of one process need. */
export type QueuesOptions = Readonly<{
  /** The engine's clock; with a virtual one, `advance` is there to move it. */
  clock: Clock;
  /** A clock that never jumps, for the pauses between retries. */
  steady: Pick<Clock, "now">;
  ids: Ids;
  index: DueIndex;
  /** Where the instance of a timer is stored. */
  keyOf: (timer: Pick<TimerMessage, "tenant" | "instanceId">) => Key;
  handlers: ReadonlyMap<string, TaskHandler>;
  /** The one that the handlers were made with. */
  runs: RunningHandlers;
  concurrency?: number;
  /** Messages of the work queue handled at a time. */
  workAtOnce?: number;
  /** Receives announcements about instances; absent: announcements are off. */
  onAnnouncement?: AnnouncementListener;
  /** Receives every failure that will be retried; must not throw. */
  onTrouble: (trouble: Trouble) => void;
  /** Real time; for tests. */
  alarm?: Alarm;
  patienceMs?: number;
}>;

/** The calls of the engine that the queues deliver to. */
export type Consumers = Readonly<{
  handle(message: Message, invocation: Invocation): Promise<Verdict>;
  advance: ParkedConsumer;
  onDue: TimerConsumer["onDue"];
}>;

/** Queues and timers of an engine that lives in one process. */
export type Queues = Readonly<{
  tasks: TaskQueue;
  parking: ParkingQueue;
  timers: TimerLoop;
  work: LocalWorkQueue;
  bus: Bus;
  invocations: Invocations;
  /** Starts to deliver. */
  consume(consumers: Consumers): void;
  /** Only with a virtual clock. */
  advance?: Advance;
  /** Resolves when nothing is due, parked, queued, fanned out or running. */
  idle(): Promise<void>;
  whatIsLeft(): readonly string[];
  /** Delivers nothing more and lets running steps finish; after `graceMs` aborts the handlers. */
  close(options: Readonly<{ graceMs: number }>): Promise<readonly string[]>;
}>;

/** Puts the queues of one process together; nothing is delivered before `consume`. */
export function openQueues(options: QueuesOptions): Queues {
  const { clock, steady, ids, alarm = processAlarm, concurrency = DEFAULT_CONCURRENCY } = options;
  const isVirtual = clock instanceof VirtualClock;
  const agenda = new Agenda({ clock, alarm: isVirtual ? noAlarm : alarm });
  const pauses = new Agenda({ clock: steady, alarm });
  const activity = new Activity({ steady, alarm });
  const invocations = new Invocations({ clock, ids });
  const { onTrouble, handlers, runs, index, keyOf, patienceMs, onAnnouncement } = options;
  const { workAtOnce = DEFAULT_WORK_AT_ONCE } = options;
  const common = { agenda, pauses, activity, onTrouble, invocations, concurrency };
  const tasks = new TaskQueue({ ...common, handlers, runs });
  const parking = new ParkingQueue(common);
  const work = new LocalWorkQueue({ ...common, concurrency: workAtOnce });
  const mayBeQueued = () => parking.load + work.load > 0;
  const timers = new TimerLoop({ ...common, index, keyOf, mayBeQueued });
  const bus = localBus({ work, ...(onAnnouncement && { announce: onAnnouncement }) });
  const patience = patienceMs === undefined ? {} : { patienceMs };
  return {
    tasks,
    parking,
    timers,
    work,
    bus,
    invocations,
    consume({ handle, advance, onDue }) {
      tasks.consume(handle);
      parking.consume(advance);
      work.consume(handle);
      timers.consume({ onDue, onTimer: handle });
    },
    ...(isVirtual
      ? { advance: clockAdvancer({ clock, agenda, activity, timers, ...patience }) }
      : {}),
    idle: () => activity.idle(),
    whatIsLeft: () => activity.whatIsLeft(),
    async close({ graceMs }) {
      for (const queue of [tasks, parking, timers, work]) queue.stopDelivery();
      agenda.stop();
      pauses.stop();
      const isQuiet = await activity.runningAtMost(0, graceMs);
      const left = activity.whatIsLeft();
      runs.shutDown();
      // Steps whose handlers were abandoned never end; the others are about to end.
      if (!isQuiet) await activity.runningAtMost(runs.abandoned, LAST_STEPS_MS);
      return left;
    },
  };
}
