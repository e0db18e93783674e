// The SDK retries requests. A retried conditional write whose first attempt was applied would fail
// its own condition, and look like a conflict with another writer: so whatever the client's
// settings say, a write is sent once, and the caller gets the outcome of that.

import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { meaningOf } from "./failure.ts";

/**
 * Makes the client send each write once, as every store on it needs; reads are retried as
 * configured.
 */
export function sendWritesOnce(client: DynamoDBClient): void {
  client.middlewareStack.add(
    (next, context) => async (args) => {
      if (!WRITES.has(context.commandName ?? "")) return next(args);
      try {
        return await next(args);
      } catch (failure) {
        // A refused signature may be fixed by the client's clock correction, and was no write.
        throw meaningOf(failure) === "refused" ? failure : new SentOnce(failure);
      }
    },
    // Innermost of its step: what fails before here was never sent, and may be retried.
    { step: "finalizeRequest", priority: "low", name: "fermataSendWritesOnce", override: true },
  );
}

/** The failure of a request, unwrapped from SentOnce. */
export function sentOnce(thrown: unknown): unknown {
  return thrown instanceof SentOnce ? thrown.failure : thrown;
}

/**
 * How the one attempt of a write ended. Not as a `cause`: the SDK would look there for a reason to
 * retry.
 */
export class SentOnce extends Error {
  readonly failure: unknown;

  constructor(failure: unknown) {
    super(failure instanceof Error ? failure.message : String(failure));
    this.failure = failure;
  }
}

const WRITES: ReadonlySet<string> = new Set([
  "PutItemCommand",
  "DeleteItemCommand",
  "TransactWriteItemsCommand",
  "BatchWriteItemCommand",
]);
