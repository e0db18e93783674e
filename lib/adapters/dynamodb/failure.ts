import { EngineError } from "../../ports/engine-error.ts";

/**
 * What a failed request means for its write. "refused": the service answered and wrote nothing;
 * "busy": likewise, but it may well write it in a moment; "unknown": perhaps it did write.
 */
export type Meaning = "refused" | "busy" | "unknown";

/** What the failure of a request that was sent means. Only an answer proves that nothing was written. */
export function meaningOf(failure: unknown): Meaning {
  const { name, code, status } = traitsOf(failure);
  if (BUSY.has(name) || status === 429) return "busy";
  if (NEVER_CONNECTED.has(code)) return "refused";
  const isAnswer = status >= 400 && status < 500 && !UNDECIDED.has(name);
  return isAnswer ? "refused" : "unknown";
}

/** A commit that failed for good, in words of the person who runs the engine. */
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
 * Answers that do not say what became of the write: it came too slowly to be read, or it is the
 * very transaction, sent before, that is still under way.
 */
const UNDECIDED: ReadonlySet<string> = new Set([
  "RequestTimeout",
  "RequestTimeoutException",
  "TransactionInProgressException",
]);

/** Nobody was there to send anything to. */
const NEVER_CONNECTED: ReadonlySet<string> = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
]);

type Traits = Readonly<{ name: string; code: string; status: number }>;

/** What tells failures of the SDK, of Node and of the network apart. */
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
