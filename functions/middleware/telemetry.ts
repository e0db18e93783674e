/** Hears what a function does. Nothing that a workflow carries is told: ids, names, counts, times. */
export interface Telemetry {
  /** A line of the log: a name, and what it is about. */
  log(level: "debug" | "info" | "warn" | "error", name: string, fields: LogFields): void;
  /** One more value of a metric. */
  measure(metric: MetricName, value: number): void;
}

/** `error` is the one field that is no text or number; of it the log keeps name, message, stack. */
export type LogFields = Readonly<Record<string, unknown>>;

export type MetricName = keyof typeof METRICS;

/** Everything that is measured, in the words of the operations guide. */
export const METRICS = {
  /** From a message's arrival in the function to its verdict; in `run-task`, handlers included. */
  StepLatency: "Milliseconds",
  /** Commits of instances. */
  Steps: "Count",
  /** Commits that met a newer version. */
  Conflicts: "Count",
  /** Commits that were throttled or met a transaction. */
  StoreBusy: "Count",
  /** Commits of which nobody said whether they were written. */
  UnknownOutcomes: "Count",
  /** Facts that were queued for their instance. */
  Parked: "Count",
  /** Messages that have to come back. */
  Kept: "Count",
  /** Messages whose handling failed; they come back, too. */
  Failures: "Count",
  /** Messages that nobody can handle. */
  SetAside: "Count",
  /** Messages that came too often and were given up. */
  GivenUp: "Count",
  /** Messages that only the sweep knew of: about none in good health. */
  SweepRecovered: "Count",
  /** Timers that the wheel queued. */
  WheelQueued: "Count",
  /** From the instant at which a timer was due to the commit that fired it. */
  TimerLateness: "Milliseconds",
  Incidents: "Count",
} as const;
