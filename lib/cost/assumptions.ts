/**
 * Assumptions where nothing can be counted: how long calls take, and how functions are configured.
 * Of 2026-02, from published figures for one Region; none of it was measured in a real account.
 */

/** Milliseconds that a function waits for one call, or works. */
export const ASSUMED_MS = {
  /** Of a task handler, here and in the engines of the comparison. */
  handler: 20,
  /** Parsing the event, deciding, encoding, responding. */
  overhead: 2,
  read: 5,
  write: 6,
  transaction: 12,
  query: 6,
  send: 6,
  schedule: 20,
  publish: 12,
  putBlob: 30,
  getBlob: 20,
} as const;

/** Memory of the functions as they are deployed, in MB. */
export const MEMORY_MB = {
  "http-api": 512,
  "run-task": 256,
  advance: 256,
  "fire-timer": 256,
  "run-work": 256,
} as const;

export type FunctionName = keyof typeof MEMORY_MB;

/**
 * Bytes of the log, with the 26 that CloudWatch adds to each line. A function without failures
 * writes one line, its metrics; these lines were measured, from one step to ten, and Lambda's own
 * are not kept. The gateway writes a line for each call.
 */
export const LOG_BYTES = { invocation: 450, call: 350 } as const;

/** How long an ended instance is kept and billed, with its index rows. */
export const KEPT_DAYS = 30;

/** What DynamoDB adds to the bytes of every row it stores, in the table and in each index. */
export const ROW_OVERHEAD_BYTES = 100;

/** The longest delay of the timer queue, and how much earlier than due a schedule fires. */
export const TIMER_QUEUE_MAX_MS = 900_000;
export const SCHEDULE_LEAD_MS = 90_000;

/** Bytes that a durable function writes for an operation, and how long it keeps them. */
export const DURABLE_OPERATION_BYTES = 1_024;
export const DURABLE_KEPT_DAYS = 14;
