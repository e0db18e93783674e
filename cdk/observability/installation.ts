import type { EngineFunctions } from "../constructs/engine-functions.ts";
import type { EngineQueues } from "../constructs/engine-queues.ts";
import type { InstanceTable } from "../constructs/instance-table.ts";
import type { DeadLetterQueue } from "../constructs/secured-queue.ts";
import type { SignalBus } from "../constructs/signal-bus.ts";
import type { TimerSchedules } from "../constructs/timer-schedules.ts";

/** What is watched. */
export type Installation = Readonly<{
  table: InstanceTable;
  queues: EngineQueues;
  bus: SignalBus;
  schedules: TimerSchedules | undefined;
  functions: EngineFunctions;
  metricsNamespace: string;
  /** Every dead-letter queue, by the role of its source. */
  deadLetters(): Readonly<Record<string, DeadLetterQueue>>;
}>;
