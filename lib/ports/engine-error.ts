/** Every code an EngineError may carry; each is a promise with a heading in docs/reference/errors.md. */
export const errorCodes = [
  "blobs/put-failed",
  "blobs/read-failed",
  "broadcast/not-found",
  "bus/not-taken",
  "compiler/unavailable",
  "dead-letter/not-found",
  "definition/disabled",
  "definition/fewer-shards",
  "definition/invalid",
  "definition/not-found",
  "definition/not-startable",
  "definition/notation-unknown",
  "engine/busy",
  "engine/closed",
  "engine/misconfigured",
  "engine/outcome-unknown",
  "engine/unexpected",
  "event/inbox-full",
  "event/too-many-kept",
  "incident/not-found",
  "instance/awaited",
  "instance/ended",
  "instance/format-too-new",
  "instance/id-taken",
  "instance/not-ended",
  "instance/not-found",
  "instance/not-live",
  "instance/scope-ambiguous",
  "instance/scope-not-found",
  "instance/value-missing",
  "message/format-too-new",
  "message/mailbox-full",
  "message/no-waiter",
  "message/unreadable",
  "queue/send-failed",
  "request/body-too-large",
  "request/clock-not-virtual",
  "request/foreign-origin",
  "request/header-too-large",
  "request/invalid",
  "request/key-reused",
  "request/method-not-allowed",
  "request/not-found",
  "request/timeout",
  "request/unauthorized",
  "request/unsupported-media-type",
  "schedule/not-found",
  "secrets/read-failed",
  "store/call-refused",
  "store/closed",
  "store/commit-failed",
  "store/corrupt",
  "store/cursor-invalid",
  "store/disk-full",
  "store/files-removed",
  "store/folder-in-use",
  "store/folder-unusable",
  "store/format-too-new",
  "store/item-too-new",
  "store/item-too-old",
  "store/log-lost",
  "store/read-failed",
  "task/claimed",
  "task/not-a-candidate",
  "task/not-for-people",
  "task-type/no-queues",
  "task-type/queue-not-allowed",
  "task-type/queue-unusable",
  "task/lock-lost",
  "task/not-found",
  "task/outputs-missing",
  "tasks/handler-unusable",
  "timers/not-armed",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** What the reader of an error needs: what happened, where, and what to do about it. */
export type Explanation = Readonly<{
  happened: string;
  where: string;
  fix: string;
  retryable: boolean;
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
    this.retryable = retryable;
    this.stopsEngine = stopsEngine ?? false;
    this.publicText = `${happened}. ${fix}`;
    this.details = details ?? [];
  }
}
