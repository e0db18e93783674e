/** Logs and metrics of a function: ids, names, counts and times, never the data of a workflow. */
export interface Telemetry {
  /** Writes a log line: a name and fields. */
  log(level: "debug" | "info" | "warn" | "error", name: string, fields: LogFields): void;
  /** Adds a value to a metric, with optional dimensions. */
  measure(metric: MetricName, value: number, dimensions?: Dimensions): void;
}

/** `error` is the one field that is no text or number; of it the log keeps name, message, stack. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Few and short: each combination is a metric of its own, and is billed as one. */
export type Dimensions = Readonly<Record<string, string>>;

export type MetricName = keyof typeof METRICS;

/** Every metric, as in the operations guide. */
export const METRICS = {
  /** From a message's arrival in the function to its verdict; in `run-task`, handlers included. */
  StepLatency: "Milliseconds",
  /** Commits of instances. */
  Steps: "Count",
  /** Commits that met a newer version. */
  Conflicts: "Count",
  /** Commits that were throttled or met a transaction. */
  StoreBusy: "Count",
  /** Commits of which it is unknown whether they were written. */
  UnknownOutcomes: "Count",
  /** Facts that were queued for their instance. */
  Parked: "Count",
  /** Of these: outcomes of tasks and timers for an instance that was crowded or contended. */
  OutcomesParked: "Count",
  /** Messages that are delivered again. */
  Kept: "Count",
  /** Reads that met a commit half applied. */
  NackFence: "Count",
  /** Messages whose work has a living owner. */
  NackOwn: "Count",
  /** Steps of which a dead owner had left something unsent. */
  TakenOver: "Count",
  /** Messages that had no effect; by `kind`. */
  StaleFacts: "Count",
  /** Messages whose handling failed; they are delivered again, too. */
  Failures: "Count",
  /** Messages that cannot be handled. */
  SetAside: "Count",
  /** Messages that were received too often and given up. */
  GivenUp: "Count",
  /** Messages that only the sweep found: close to none in a healthy installation. */
  SweepRecovered: "Count",
  /** How long what the sweep sent had been overdue. */
  LookAtLag: "Milliseconds",
  /** Timers that the wheel queued. */
  WheelQueued: "Count",
  /** From the instant at which a timer was due to the commit that fired it. */
  TimerLateness: "Milliseconds",
  Incidents: "Count",
  /** Rows that a page of a broadcast was for. */
  BroadcastMatched: "Count",
  /** From the acceptance of a broadcast until a page of it is delivered. */
  BroadcastDuration: "Milliseconds",
  /** How many messages a mailbox keeps, the new one included. */
  MailboxDepth: "Count",
  /** What the table and its indexes bill for reads and writes that succeeded. */
  ReadUnits: "Count",
  WriteUnits: "Count",
} as const;
