import { EngineError } from "../../ports/engine-error.ts";

/**
 * What a failed request means for its write. "refused": the service answered and wrote nothing;
 * "busy": the same, but a retry may succeed; "unknown": it may have been written.
 */
export type Meaning = "refused" | "busy" | "unknown";

/** The meaning of a failed request that was sent. Only a response proves that nothing was written. */
export function meaningOf(failure: unknown): Meaning {
  const { name, code, status } = traitsOf(failure);
  if (BUSY.has(name) || status === 429) return "busy";
  if (NEVER_CONNECTED.has(code)) return "refused";
  const isAnswer = status >= 400 && status < 500 && !UNDECIDED.has(name);
  return isAnswer ? "refused" : "unknown";
}

/** A commit that failed for good, explained to the operator. */
export function commitFailed(table: string, cause: unknown): EngineError {
  return new EngineError("store/commit-failed", {
    happened: "The new state was not saved",
    where: `table ${table}`,
    fix: fixOf(cause),
    retryable: !traitsOf(cause).name.startsWith("Validation"),
    cause,
  });
}

/** A read that failed although it was repeated. */
export function readFailed(table: string, cause: unknown): EngineError {
  if (cause instanceof EngineError) return cause;
  return new EngineError("store/read-failed", {
    happened: "The stored state could not be read",
    where: `table ${table}`,
    fix: fixOf(cause),
    retryable: !traitsOf(cause).name.startsWith("Validation"),
    cause,
  });
}

const BUSY: ReadonlySet<string> = new Set([
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "ThrottlingException",
  "Throttling",
  "TransactionConflictException",
]);

/**
 * Responses that leave the outcome of the write open: the response timed out, or the very same
 * transaction, sent before, is still in flight.
 */
const UNDECIDED: ReadonlySet<string> = new Set([
  "RequestTimeout",
  "RequestTimeoutException",
  "TransactionInProgressException",
]);

/** There was no connection, so nothing was sent. */
const NEVER_CONNECTED: ReadonlySet<string> = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
]);

type Traits = Readonly<{ name: string; code: string; status: number }>;

/** The properties that distinguish failures of the SDK, of Node and of the network. */
function traitsOf(failure: unknown): Traits {
  if (!(failure instanceof Error)) return { name: "", code: "", status: 0 };
  const code = "code" in failure ? String(failure.code) : "";
  return { name: failure.name, code, status: statusOf(failure) };
}

function statusOf(failure: Error): number {
  const metadata = "$metadata" in failure ? failure.$metadata : undefined;
  if (typeof metadata !== "object" || metadata === null) return 0;
  const status = "httpStatusCode" in metadata ? metadata.httpStatusCode : undefined;
  return typeof status === "number" ? status : 0;
}

function fixOf(cause: unknown): string {
  const { name, code } = traitsOf(cause);
  if (name === "ResourceNotFoundException") {
    return "There is no such table in this account and Region: check the deployment and FERMATA_TABLE.";
  }
  if (name === "AccessDeniedException") {
    return "The role of this function may not do this: deploy the construct's permissions again.";
  }
  if (name.startsWith("Validation")) {
    return "The service does not accept the request; its message is attached. Please report it.";
  }
  if (NEVER_CONNECTED.has(code)) {
    return "DynamoDB cannot be reached from here; it is tried again. Check the network and the endpoint.";
  }
  return "It is tried again; if this repeats, look at the table's throttle metrics and at the attached cause.";
}
