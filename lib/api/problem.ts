/** Every error is returned as problem details (RFC 9457), by the one table in this file. */
import { EngineError, type ErrorCode } from "../ports/engine-error.ts";
import { type ApiRequest, type ApiResponse, PROBLEM_TYPE } from "./http.ts";

/** Unexpected errors have a code too: "engine/unexpected". */
export type ProblemCode = ErrorCode;

/** The response of an error; `errors` has one entry for each problem. */
export type Problem = Readonly<{
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ProblemCode;
  /** The path of the request. */
  instance: string;
  errors?: readonly ProblemEntry[];
  /** The id of the log entry of a failure of the engine. */
  errorId?: string;
}>;

/** One problem; for a workflow's source it is a diagnostic. */
export type ProblemEntry = Readonly<{ message: string; [more: string]: unknown }>;

type Kind = Readonly<{ status: number; title: string }>;

/** The status and title of each code; an engine that has stopped answers 503 with any of them. */
export const problemKinds: Readonly<Record<ProblemCode, Kind>> = {
  "blobs/put-failed": { status: 503, title: "A large value was not saved" },
  "blobs/read-failed": { status: 503, title: "A large value could not be read" },
  "broadcast/not-found": { status: 404, title: "No such broadcast" },
  "bus/not-taken": { status: 503, title: "The bus did not take an event" },
  "compiler/unavailable": { status: 503, title: "The source could not be compiled now" },
  "dead-letter/not-found": { status: 404, title: "No such dead letter" },
  "definition/code-not-accepted": { status: 403, title: "Workflows in code are not accepted" },
  "definition/disabled": { status: 409, title: "The definition is disabled" },
  "definition/fewer-shards": { status: 409, title: "The number of shards only grows" },
  "definition/invalid": { status: 422, title: "The workflow cannot run" },
  "definition/not-found": { status: 404, title: "No such definition" },
  "definition/not-startable": { status: 409, title: "The definition cannot be started by a call" },
  "definition/notation-differs": { status: 409, title: "The definition has another notation" },
  "definition/notation-unknown": { status: 422, title: "The notation is not installed" },
  "engine/busy": { status: 429, title: "Too much at once" },
  "engine/closed": { status: 503, title: "The engine is shutting down" },
  "engine/misconfigured": { status: 500, title: "The engine is misconfigured" },
  "engine/outcome-unknown": { status: 503, title: "What becomes of the request is not known yet" },
  "engine/unexpected": { status: 500, title: "Unexpected error" },
  "event/inbox-full": { status: 429, title: "The inbox is full" },
  "event/too-many-kept": { status: 429, title: "Too many events are kept" },
  "incident/not-found": { status: 404, title: "No such incident" },
  "instance/awaited": { status: 409, title: "Another instance waits for this one" },
  "instance/ended": { status: 410, title: "The instance has ended" },
  "instance/format-too-new": { status: 500, title: "The instance was written by a newer engine" },
  "instance/id-taken": { status: 409, title: "The instance id is taken" },
  "instance/not-ended": { status: 409, title: "The instance has not ended" },
  "instance/not-live": { status: 409, title: "The instance has ended" },
  "instance/scope-ambiguous": { status: 409, title: "The element is open several times" },
  "instance/scope-not-found": { status: 404, title: "The element is not open" },
  "instance/not-found": { status: 404, title: "No such instance" },
  "instance/value-missing": { status: 500, title: "A large value of the instance is missing" },
  "instance/variables-fixed": { status: 409, title: "The variables cannot be set" },
  "message/format-too-new": {
    status: 500,
    title: "A queued message was written by a newer engine",
  },
  "message/mailbox-full": { status: 429, title: "The mailbox is full" },
  "message/no-waiter": { status: 404, title: "No wait for the message is open" },
  "message/unreadable": { status: 500, title: "A queued message cannot be read" },
  "queue/send-failed": { status: 503, title: "A queue did not accept a message" },
  "request/body-too-large": { status: 413, title: "The body is too large" },
  "request/clock-not-virtual": { status: 409, title: "The clock is real" },
  "request/foreign-origin": { status: 403, title: "The request comes from another site" },
  "request/header-too-large": { status: 431, title: "The URL and the headers are too large" },
  "request/invalid": { status: 400, title: "The request is not valid" },
  "request/key-reused": { status: 409, title: "The key or id was used for another request" },
  "request/method-not-allowed": { status: 405, title: "Method not allowed" },
  "request/not-found": { status: 404, title: "No such path" },
  "request/timeout": { status: 408, title: "The request did not arrive in time" },
  "request/unauthorized": { status: 401, title: "Not authorized" },
  "request/unsupported-media-type": {
    status: 415,
    title: "The body's media type is not supported",
  },
  "schedule/not-found": { status: 404, title: "No such schedule" },
  "secrets/read-failed": { status: 503, title: "A secret could not be read" },
  "store/call-refused": { status: 500, title: "The store refused a call" },
  "store/closed": { status: 503, title: "The store is closed" },
  "store/commit-failed": { status: 503, title: "The new state was not saved" },
  "store/corrupt": { status: 500, title: "The store is damaged" },
  "store/cursor-invalid": { status: 400, title: "The cursor is not valid" },
  "store/disk-full": { status: 503, title: "The disk is full" },
  "store/files-removed": {
    status: 503,
    title: "Files of the data folder were removed or truncated",
  },
  "store/folder-in-use": { status: 500, title: "The data folder is in use" },
  "store/folder-unusable": { status: 500, title: "The data folder cannot be used" },
  "store/item-too-new": { status: 500, title: "A stored item was written by a newer engine" },
  "store/item-too-old": { status: 500, title: "A stored item was written by a much older engine" },
  "store/format-too-new": { status: 500, title: "The store was written by a newer engine" },
  "store/log-lost": { status: 500, title: "The log of the data folder has lost its end" },
  "store/read-failed": { status: 503, title: "Stored state could not be read" },
  "task/claimed": { status: 409, title: "The task is claimed by another user" },
  "task/not-a-candidate": { status: 409, title: "The user may not claim the task" },
  "task/not-for-people": { status: 409, title: "The task is not a user task" },
  "task/outputs-missing": { status: 409, title: "The completion lacks outputs" },
  "task-type/no-queues": { status: 409, title: "This engine has no queues for tasks" },
  "task-type/queue-not-allowed": {
    status: 403,
    title: "The queue is not one of this installation",
  },
  "task-type/queue-unusable": { status: 409, title: "Tasks cannot be sent to the queue" },
  "task/lock-lost": { status: 409, title: "Another worker has the task" },
  "task/not-found": { status: 404, title: "No such task" },
  "tasks/handler-unusable": { status: 500, title: "A task handler cannot be used" },
  "timers/not-armed": { status: 503, title: "A timer was not armed" },
};

/** Where errors.md explains a code: the anchor of its heading. */
export const problemType = (code: ProblemCode): string =>
  `/docs/reference/errors.md#${code.replace("/", "")}`;

/** A response of 500 or more, as it is logged. */
export type Failure = Readonly<{ error: unknown; status: number; code: ProblemCode }>;

/** The response to a failed request. `report` logs a failure of the engine, and returns its id. */
export function problemResponse(
  error: unknown,
  { path }: Pick<ApiRequest, "path">,
  report?: (failure: Failure) => string | undefined,
): ApiResponse {
  const code = error instanceof EngineError ? error.code : "engine/unexpected";
  const { title } = problemKinds[code];
  const status = statusOf(error, code);
  const isOurs = status >= 500;
  const errorId = isOurs ? report?.({ error, status, code }) : undefined;
  const errors = error instanceof EngineError && !isOurs ? error.details.map(entryOf) : [];
  const problem: Problem = {
    type: problemType(code),
    title,
    status,
    detail: detailOf(error, status),
    code,
    instance: path,
    ...(errors.length > 0 && { errors }),
    ...(errorId !== undefined && { errorId }),
  };
  return {
    status,
    headers: { "content-type": PROBLEM_TYPE, ...headersOf(status) },
    body: JSON.stringify(problem),
  };
}

/** An engine that has stopped is unavailable, whatever the reason: another one may answer. */
function statusOf(error: unknown, code: ProblemCode): number {
  const hasStopped = error instanceof EngineError && error.stopsEngine;
  return hasStopped ? 503 : problemKinds[code].status;
}

/** Internal details are for the log: a client sees neither internal names nor foreign messages. */
function detailOf(error: unknown, status: number): string {
  if (error instanceof EngineError) {
    if (status < 500) return error.message.replace(/ \[[a-z/-]+\]$/, "");
    if (status !== 500) return error.publicText;
  }
  return "The engine failed unexpectedly. Nothing is known to be wrong with the request; see the engine's log.";
}

function entryOf(detail: Readonly<Record<string, unknown>>): ProblemEntry {
  const { message } = detail;
  return { ...detail, message: typeof message === "string" ? message : JSON.stringify(detail) };
}

const RETRY_AFTER_SECONDS = 1;

function headersOf(status: number): Readonly<Record<string, string>> {
  if (status === 429 || status === 503) return { "retry-after": String(RETRY_AFTER_SECONDS) };
  return status === 401 ? { "www-authenticate": 'Bearer realm="fermata"' } : {};
}
