// The SDK repeats a request that failed in between. A repeated conditional write whose first try
// was applied would be refused by itself, and be told as somebody else's: so whatever the client's
// settings say, a write is sent once, and the caller hears how that went.

import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { meaningOf } from "./failure.ts";

/** Lets the client send each write once, as every store on it needs; reads it repeats as it is set. */
export function sendWritesOnce(client: DynamoDBClient): void {
  client.middlewareStack.add(
    (next, context) => async (args) => {
      if (!WRITES.has(context.commandName ?? "")) return next(args);
      try {
        return await next(args);
      } catch (failure) {
        // A refused signature may be mended by the client's clock, and was no write.
        throw meaningOf(failure) === "refused" ? failure : new SentOnce(failure);
      }
    },
    // Innermost of its step: what fails before here was never sent, and may be repeated.
    { step: "finalizeRequest", priority: "low", name: "fermataSendWritesOnce", override: true },
  );
}

/** What made a request fail, whether or not it was sent once. */
export function sentOnce(thrown: unknown): unknown {
  return thrown instanceof SentOnce ? thrown.failure : thrown;
}

/** How the one try of a write ended. Not as a `cause`: the SDK would look in there for a reason to repeat. */
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
