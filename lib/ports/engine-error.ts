/**
 * Every code an EngineError may carry, and whether the same call may succeed later (`retryable`) or not
 * (`final`); each is a promise with a heading in docs/reference/errors.md.
 */
const CODES = {
  "blobs/put-failed": "retryable",
  "blobs/read-failed": "retryable",
  "broadcast/not-found": "final",
  "bus/not-taken": "retryable",
  "compiler/unavailable": "retryable",
  "dead-letter/not-found": "final",
  "definition/disabled": "final",
  "definition/fewer-shards": "final",
  "definition/invalid": "final",
  "definition/not-found": "final",
  "definition/not-startable": "final",
  "definition/notation-unknown": "final",
  "engine/busy": "retryable",
  "engine/closed": "retryable",
  "engine/misconfigured": "final",
  "engine/outcome-unknown": "retryable",
  "engine/unexpected": "final",
  "event/inbox-full": "retryable",
  "event/too-many-kept": "retryable",
  "incident/not-found": "final",
  "instance/awaited": "final",
  "instance/ended": "final",
  "instance/format-too-new": "retryable",
  "instance/id-taken": "final",
  "instance/not-ended": "retryable",
  "instance/not-found": "final",
  "instance/not-live": "final",
  "instance/scope-ambiguous": "final",
  "instance/scope-not-found": "final",
  "instance/value-missing": "retryable",
  "message/format-too-new": "retryable",
  "message/mailbox-full": "retryable",
  "message/no-waiter": "final",
  "message/unreadable": "final",
  "queue/send-failed": "retryable",
  "request/body-too-large": "final",
  "request/clock-not-virtual": "final",
  "request/foreign-origin": "final",
  "request/header-too-large": "final",
  "request/invalid": "final",
  "request/key-reused": "final",
  "request/method-not-allowed": "final",
  "request/not-found": "final",
  "request/timeout": "retryable",
  "request/unauthorized": "final",
  "request/unsupported-media-type": "final",
  "schedule/not-found": "final",
  "secrets/read-failed": "retryable",
  "store/call-refused": "final",
  "store/closed": "final",
  "store/commit-failed": "retryable",
  "store/corrupt": "final",
  "store/cursor-invalid": "final",
  "store/disk-full": "retryable",
  "store/files-removed": "final",
  "store/folder-in-use": "final",
  "store/folder-unusable": "final",
  "store/format-too-new": "final",
  "store/item-too-new": "retryable",
  "store/item-too-old": "final",
  "store/log-lost": "final",
  "store/read-failed": "retryable",
  "task/claimed": "final",
  "task/not-a-candidate": "final",
  "task/not-for-people": "final",
  "task-type/no-queues": "final",
  "task-type/queue-not-allowed": "final",
  "task-type/queue-unusable": "final",
  "task/lock-lost": "final",
  "task/not-found": "final",
  "task/outputs-missing": "final",
  "tasks/handler-unusable": "final",
  "timers/not-armed": "retryable",
} as const;

export type ErrorCode = keyof typeof CODES;

export const errorCodes = Object.keys(CODES) as readonly ErrorCode[];

/** What the reader of an error needs: what happened, where, and what to do about it. */
export type Explanation = Readonly<{
  happened: string;
  where: string;
  fix: string;
  /** Where this differs from what the code says. */
  retryable?: boolean;
  /** The store as a whole is unusable, not a single item: the engine stops. */
  stopsEngine?: boolean;
  cause?: unknown;
  /** Everything that is wrong, one entry each, where several things are. */
  details?: readonly Readonly<Record<string, unknown>>[];
}>;

/** An unexpected failure; expected outcomes are values, an author's mistakes are diagnostics. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: ErrorCode;
  readonly retryable: boolean;
  /** The store as a whole is unusable, not a single item: the engine has stopped. */
  readonly stopsEngine: boolean;
  /** Without `where`, which may name things that a caller must not see. */
  readonly publicText: string;
  readonly details: readonly Readonly<Record<string, unknown>>[];

  constructor(code: ErrorCode, explanation: Explanation) {
    const { happened, where, fix, retryable, stopsEngine, cause, details } = explanation;
    super(`${happened} (${where}). ${fix} [${code}]`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryable = retryable ?? CODES[code] === "retryable";
    this.stopsEngine = stopsEngine ?? false;
    this.publicText = `${happened}. ${fix}`;
    this.details = details ?? [];
  }
}
