import * as z from "zod";
import { UNDECLARED } from "../../engine/rows/event.ts";
import { listOf } from "./page.ts";
import { named } from "./registry.ts";
import { count, givenId, instant, json, lastingDuration, nameText } from "./values.ts";

/** The request that sends an event. */
export const event = named(
  "Event",
  z.strictObject({
    name: nameText,
    payload: json.exactOptional(),
    target: givenId.exactOptional().describe("An instance; without one it is broadcast."),
    id: givenId
      .exactOptional()
      .describe("The same id is the same event; the Idempotency-Key by default."),
  }),
);

/** What happened to an event, as far as known when the call returns. */
export const sent = named(
  "EventAccepted",
  z.strictObject({
    id: z.string(),
    outcome: z
      .enum(["delivered", "queued", "dropped"])
      .exactOptional()
      .describe(
        "`queued`: kept for later waits; `dropped`: no wait is open and it is not kept. Not with 202.",
      ),
    deliveredCount: count.exactOptional(),
  }),
);

const consumeOnRead = z.boolean();
const deliveryMode = z.enum(["AfterWait", "AfterCreate", "All"]);
const onTargetTerminated = z.enum(["discard", "broadcast", "deadLetter"]);

/** The request that declares a type of event; what it leaves out gets its default. */
export const eventSettings = named(
  "EventSettings",
  z.strictObject({
    consumeOnRead: consumeOnRead.exactOptional().meta({
      default: UNDECLARED.consumeOnRead,
      description: "True: the longest open wait gets a broadcast event. False: every wait does.",
    }),
    deliveryMode: deliveryMode.exactOptional().meta({
      default: UNDECLARED.deliveryMode,
      description:
        "Which waits a broadcast event is for: those open now, also later ones of instances that had started by then, or all later ones.",
    }),
    expireAfter: lastingDuration.exactOptional().meta({
      default: UNDECLARED.expireAfter,
      description: "How long an event is kept; an expired one is not delivered.",
    }),
    onTargetTerminated: onTargetTerminated.exactOptional().meta({
      default: UNDECLARED.onTargetTerminated,
      description: "What happens to an instance's unread events when it ends.",
    }),
  }),
);

/** The settings of an event type. */
export const eventType = named(
  "EventType",
  z.strictObject({
    name: z.string(),
    declared: z.boolean().describe("False: it was not declared, and these are the defaults."),
    consumeOnRead,
    deliveryMode,
    expireAfter: z.string().meta({ format: "duration" }),
    onTargetTerminated,
  }),
);

/** A page of events that could not be delivered. */
export const deadLetterList = listOf(
  "DeadLetterList",
  named(
    "DeadLetter",
    z.strictObject({
      id: z.string(),
      name: z.string(),
      payload: json,
      at: instant,
      reason: z.string(),
      target: z.string().describe("The target instance."),
      targetStatus: z.enum(["succeeded", "failed", "cancelled"]),
    }),
  ),
);

/** The answer to a removal. */
export const removed = named("Removed", z.strictObject({ removed: z.literal(true) }));
