/**
 * Every code an EngineError may carry. A code is a promise with a heading in docs/reference/errors.md:
 * it says whether the same call may succeed later, and, where that is always the same, what happened
 * and what to do about it.
 */
export const CODES = {
  "blobs/put-failed": { retryable: true },
  "blobs/read-failed": { retryable: true },
  "broadcast/not-found": {
    happened: "There is no receipt of such a broadcast",
    fix: "Check the id; receipts are kept for 15 days.",
  },
  "bus/not-taken": {
    retryable: true,
    happened: "The bus did not take a broadcast",
    fix: "It is sent again by the sweep. If this goes on, look at the function's permissions and at the throttles of the bus.",
  },
  "compiler/unavailable": { retryable: true },
  "dead-letter/not-found": {
    happened: "There is no such dead letter",
    fix: "It was replayed, removed, or 30 days old; GET /v1/dead-letters lists what is there.",
  },
  "definition/code-not-accepted": {},
  "definition/disabled": {},
  "definition/fewer-shards": {},
  "definition/invalid": {},
  "definition/not-found": {
    happened: "There is no such definition",
    fix: "Deploy it first, or list what is deployed with GET /v1/definitions.",
  },
  "definition/not-startable": {},
  "definition/notation-differs": {},
  "definition/notation-unknown": {},
  "engine/busy": {
    retryable: true,
    happened: "The store is too busy, or other calls keep changing the same thing",
    fix: "Nothing is lost: try again in a second, with the same id or Idempotency-Key.",
  },
  "engine/closed": { retryable: true },
  "engine/misconfigured": {},
  "engine/outcome-unknown": { retryable: true },
  "engine/unexpected": {},
  "event/inbox-full": {
    retryable: true,
    happened: "The instance has too many unread events",
    fix: "Wait until it has read some, then send the event again; nothing was stored.",
  },
  "event/too-many-kept": { retryable: true },
  "incident/not-found": {
    happened: "There is no such open incident",
    fix: "It was resolved, or went with its element; GET /v1/instances/{id} lists what is open.",
  },
  "instance/awaited": {},
  "instance/ended": {},
  "instance/format-too-new": {
    retryable: true,
    happened: "A newer engine has written it",
    fix: "Finish the deployment of the newer engine, which reads it; nothing was changed.",
  },
  "instance/id-taken": {
    happened: "The instance id is taken by another start",
    fix: "Choose another instanceId, or repeat the first start with exactly its body.",
  },
  "instance/not-ended": {
    retryable: true,
    happened: "The instance has not ended yet",
    fix: "Wait until it has ended, or cancel it.",
  },
  "instance/not-found": {
    happened: "There is no such instance",
    fix: "Check the id; ended instances are removed after the retention time.",
  },
  "instance/not-live": {
    happened: "The instance has ended, and nothing changes it any more",
    fix: "Start another one with the variables that it should have.",
  },
  "instance/scope-ambiguous": {},
  "instance/scope-not-found": {},
  "instance/value-missing": {
    retryable: true,
    happened: "A value of the instance is not where it was stored",
    fix: "It is tried again. If it stays away, the bucket was emptied, or the table restored to before its retention.",
  },
  "instance/variables-fixed": {
    happened: "A workflow in code is replayed from its input, so its variables cannot be set",
    fix: "Send it an event instead, which its code waits for.",
  },
  "message/format-too-new": { retryable: true },
  "message/mailbox-full": {
    retryable: true,
    happened: "The mailbox keeps as many messages as it can hold",
    fix: "Let instances take them, then send the message again with the same messageId; nothing was stored.",
  },
  "message/no-waiter": {
    happened: "No instance waits for this message, and it was not to be kept",
    fix: "Give it a timeToLive to keep it until an instance waits, or check the correlation key.",
  },
  "message/unreadable": {},
  "queue/send-failed": { retryable: true },
  "request/body-too-large": {},
  "request/clock-not-virtual": {},
  "request/foreign-origin": {},
  "request/header-too-large": {},
  "request/invalid": {},
  "request/key-reused": {
    happened: "The Idempotency-Key was used before with another request",
    fix: "Use a new key for a new request; repeat a request with the same body.",
  },
  "request/method-not-allowed": {},
  "request/not-found": {},
  "request/timeout": { retryable: true },
  "request/unauthorized": {},
  "request/unsupported-media-type": {},
  "schedule/not-found": {
    happened: "There is no such schedule",
    fix: "List what begins by itself with GET /v1/schedules.",
  },
  "secrets/read-failed": { retryable: true },
  "store/call-refused": {},
  "store/closed": {},
  "store/commit-failed": { retryable: true },
  "store/corrupt": {
    happened: "What is stored makes no sense",
    fix: "Restore it from a backup that is whole; nothing was changed, and all else goes on.",
  },
  "store/cursor-invalid": {},
  "store/disk-full": { retryable: true },
  "store/files-removed": {},
  "store/folder-in-use": {},
  "store/folder-unusable": {},
  "store/format-too-new": {},
  "store/item-too-new": {
    retryable: true,
    happened: "A newer engine has written it",
    fix: "Finish the deployment of the newer engine, which reads it; nothing was changed.",
  },
  "store/item-too-old": {},
  "store/log-lost": {},
  "store/read-failed": { retryable: true },
  "task/claimed": {},
  "task/not-a-candidate": {},
  "task/not-for-people": {
    happened: "The task is not a user task and cannot be claimed",
    fix: "Complete or fail it; only user tasks change hands.",
  },
  "task-type/no-queues": {
    happened: "This engine has no queues to put tasks into",
    fix: "Poll with POST /v1/tasks/activate, or deploy an installation on AWS with `tasks.queues`.",
  },
  "task-type/queue-not-allowed": {
    happened: "This installation was not told that it may send to the queue",
    fix: "Deploy it with the queue among `tasks.queues`, then send the request again.",
  },
  "task-type/queue-unusable": {},
  "task/lock-lost": {
    happened: "The token is not that of the present lock: the lock expired, or was renewed",
    fix: "Use the token of the last heartbeat. If there is none, drop the task: another worker reports it.",
  },
  "task/not-found": {
    happened: "There is no such open task",
    fix: "It was completed, failed, interrupted or never existed; list open tasks with GET /v1/tasks.",
  },
  "task/outputs-missing": {},
  "tasks/handler-unusable": {},
  "timers/not-armed": { retryable: true },
} as const satisfies Readonly<Record<string, Told>>;

/** What a code says by itself. */
type Told = Readonly<{ retryable?: true; happened?: string; fix?: string }>;

export type ErrorCode = keyof typeof CODES;

export const errorCodes = Object.keys(CODES) as readonly ErrorCode[];
