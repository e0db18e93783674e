import { type DurationText, isoDuration } from "./duration-text.ts";

/** How a task is run; what a call says overrides what its step says. */
export type TaskOptions = Readonly<{
  retry?: RetryOptions;
  /** How long the task may take, all attempts and pauses together. */
  timeout?: DurationText;
}>;

/**
 * When a failed attempt is followed by another. Without a table: three attempts, after 1 s and 2 s
 * with 20 % of chance.
 */
export type RetryOptions = Readonly<{
  /** Attempts in all; 1 means no retries. */
  maxAttempts?: number;
  /** The pause after the first attempt. */
  backoff?: DurationText;
  /** The longest pause. */
  maxBackoff?: DurationText;
  /** What the pause is multiplied by after each further attempt. */
  multiplier?: number;
  /** The part of a pause that is drawn by chance, from 0 to 1. */
  jitter?: number;
  /** Error codes that are retried, although an error with a code is final. */
  retryOn?: readonly string[];
  /** Error codes that are final, whatever else is said. */
  nonRetryable?: readonly string[];
}>;

const OPTIONS: readonly string[] = ["retry", "timeout"] satisfies (keyof TaskOptions)[];
const RETRY_OPTIONS: readonly string[] = [
  "maxAttempts",
  "backoff",
  "maxBackoff",
  "multiplier",
  "jitter",
  "retryOn",
  "nonRetryable",
] satisfies (keyof RetryOptions)[];

/** The options as JSON text behind a comma; nothing where there are none. */
export function optionsText(given: TaskOptions, type: string): string {
  refuseUnknown(given, OPTIONS, `The options of ${type}`);
  const { retry, timeout } = given;
  if (retry === undefined && timeout === undefined) return "";
  const options = {
    ...(retry && { retry: checkedRetry(retry, type) }),
    ...(timeout !== undefined && { timeout: isoDuration(timeout, `The timeout of ${type}`) }),
  };
  return `,"options":${JSON.stringify(options)}`;
}

function checkedRetry(retry: RetryOptions, type: string) {
  const { maxAttempts, backoff, maxBackoff, multiplier, jitter } = retry;
  refuseUnknown(retry, RETRY_OPTIONS, `The retry table of ${type}`);
  const what = (name: string) => `The retry table of ${type}, ${name}`;
  if (maxAttempts !== undefined && !(Number.isInteger(maxAttempts) && maxAttempts >= 1)) {
    throw new RangeError(`${what("maxAttempts")}: write a whole number from 1.`);
  }
  if (multiplier !== undefined && !(multiplier >= 1 && Number.isFinite(multiplier))) {
    throw new RangeError(`${what("multiplier")}: write a number from 1.`);
  }
  if (jitter !== undefined && !(jitter >= 0 && jitter <= 1)) {
    throw new RangeError(`${what("jitter")}: write a number from 0 to 1.`);
  }
  return {
    ...retry,
    ...(backoff !== undefined && { backoff: isoDuration(backoff, what("backoff")) }),
    ...(maxBackoff !== undefined && { maxBackoff: isoDuration(maxBackoff, what("maxBackoff")) }),
  };
}

function refuseUnknown(given: object, known: readonly string[], what: string): void {
  const name = Object.keys(given).find((one) => !known.includes(one));
  if (name === undefined) return;
  const instead = name === "heartbeat" ? NO_HEARTBEAT : "";
  throw new TypeError(
    `${what}: there is no option "${name}". There are ${known.join(", ")}.${instead}`,
  );
}

const NO_HEARTBEAT =
  " An attempt that hangs is ended by the timeout; a worker that dies loses its task when its lock is over.";
