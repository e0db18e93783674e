import * as z from "zod";
import { named } from "./registry.ts";
import { count, givenId, instant, nameText, newVariables } from "./values.ts";

/** The request that broadcasts a signal. */
export const signal = named(
  "Signal",
  z.strictObject({
    name: nameText,
    payload: newVariables.exactOptional().describe("Becomes variables of whoever it reaches."),
    id: givenId
      .exactOptional()
      .describe("The same id is the same broadcast; the Idempotency-Key unless said."),
  }),
);

/** Whom a signal reached, as far as that is known when the call answers. */
export const broadcast = named(
  "SignalAccepted",
  z.strictObject({
    broadcastId: z.string(),
    deliveredCount: count.exactOptional().describe("Waits that it ended or woke; not with 202."),
    startedCount: count.exactOptional().describe("Instances that it started; not with 202."),
  }),
);

/** What became of a broadcast. */
export const receipt = named(
  "Receipt",
  z.strictObject({
    broadcastId: z.string(),
    kind: z.enum(["signal", "event"]),
    name: z.string(),
    acceptedAt: instant,
    complete: z
      .boolean()
      .describe("Everybody who waited when it was accepted has been dealt with."),
    matched: count.describe("Whom it was meant for: the sum of the counts and of `failed`."),
    delivered: count,
    skipped: count.describe("Waits that ended otherwise before it reached them."),
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
      .describe("Those that took it, which led to an incident at once."),
  }),
);
