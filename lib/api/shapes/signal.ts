import * as z from "zod";
import { named } from "./registry.ts";
import { count, givenId, instant, nameText, newVariables } from "./values.ts";

/** The request that broadcasts a signal. */
export const signal = named(
  "Signal",
  z.strictObject({
    name: nameText,
    payload: newVariables
      .exactOptional()
      .describe("Becomes variables of the instances that it reaches."),
    id: givenId
      .exactOptional()
      .describe("The same id is the same broadcast; the Idempotency-Key by default."),
  }),
);

/** What a signal reached, as far as known when the call returns. */
export const broadcast = named(
  "SignalAccepted",
  z.strictObject({
    broadcastId: z.string(),
    deliveredCount: count.exactOptional().describe("Waits that took it; not with 202."),
    startedCount: count.exactOptional().describe("Instances that it started; not with 202."),
  }),
);

/** The receipt of a broadcast. */
export const receipt = named(
  "Receipt",
  z.strictObject({
    broadcastId: z.string(),
    kind: z.enum(["signal", "event"]),
    name: z.string(),
    acceptedAt: instant,
    complete: z
      .boolean()
      .describe("Every wait that was open when it was accepted has been handled."),
    matched: count.describe(
      "All waits and start events that it was for: the sum of the counts and of `failed`.",
    ),
    delivered: count,
    skipped: count.describe("Waits that closed before it reached them."),
    started: count,
    expired: count,
    failed: z
      .array(
        z.strictObject({
          instanceId: z.string(),
          incidentId: z
            .string()
            .exactOptional()
            .describe("Absent where the instance could not be read."),
          message: z.string(),
        }),
      )
      .describe("Waits that took it, which led to an incident at once."),
  }),
);
