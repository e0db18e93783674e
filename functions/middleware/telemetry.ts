/** Hears what a function does. Nothing that a workflow carries is told: ids, names, counts, times. */
export interface Telemetry {
  /** A line of the log: a name, and what it is about. */
  log(level: "debug" | "info" | "warn" | "error", name: string, fields: LogFields): void;
  /** One more value of a metric; by `dimensions` it is told apart from others of its name. */
  measure(metric: MetricName, value: number, dimensions?: Dimensions): void;
}

/** `error` is the one field that is no text or number; of it the log keeps name, message, stack. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Few and short: each combination is a metric of its own, and is billed as one. */
export type Dimensions = Readonly<Record<string, string>>;

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
  /** Of these: what a task or a timer brought to an instance that was crowded or contended. */
  OutcomesParked: "Count",
  /** Messages that have to come back. */
  Kept: "Count",
  /** Looks that met a commit half applied. */
  NackFence: "Count",
  /** Messages whose work has a living owner. */
  NackOwn: "Count",
  /** Steps of which a dead owner had left something unsent. */
  TakenOver: "Count",
  /** Messages that came in vain; by `kind`, what they brought. */
  StaleFacts: "Count",
  /** Messages whose handling failed; they come back, too. */
  Failures: "Count",
  /** Messages that nobody can handle. */
  SetAside: "Count",
  /** Messages that came too often and were given up. */
  GivenUp: "Count",
  /** Messages that only the sweep knew of: about none in good health. */
  SweepRecovered: "Count",
  /** How long what the sweep sent had been waiting for somebody to look. */
  LookAtLag: "Milliseconds",
  /** Timers that the wheel queued. */
  WheelQueued: "Count",
  /** From the instant at which a timer was due to the commit that fired it. */
  TimerLateness: "Milliseconds",
  Incidents: "Count",
  /** Those whom a page of a broadcast was for. */
  BroadcastMatched: "Count",
  /** From the acceptance of a broadcast until a page of it is delivered. */
  BroadcastDuration: "Milliseconds",
  /** How many messages a mailbox keeps, with the one that came. */
  MailboxDepth: "Count",
  /** What the table and its indexes bill for reads and writes that succeeded. */
  ReadUnits: "Count",
  WriteUnits: "Count",
} as const;
