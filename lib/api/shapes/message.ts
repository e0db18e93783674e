import * as z from "zod";
import { DEFAULT_TIME_TO_LIVE } from "../../definition/limits.ts";
import { named } from "./registry.ts";
import { duration, givenId, keyText, nameText, newVariables } from "./values.ts";

/** The request that sends a message. */
export const message = named(
  "Message",
  z.strictObject({
    name: nameText,
    correlationKey: z
      .union([keyText, z.number()])
      .exactOptional()
      .describe("A number stands for its text. Absent and empty mean the same: no key."),
    payload: newVariables
      .exactOptional()
      .describe("Becomes variables of the instance that takes it."),
    messageId: givenId
      .exactOptional()
      .describe(
        "The same id for the same name and key is the same message; the Idempotency-Key by default.",
      ),
    timeToLive: duration.exactOptional().meta({
      default: DEFAULT_TIME_TO_LIVE,
      description:
        "How long it is kept when no wait is open; PT0S: only for waits that are open now.",
    }),
  }),
);

/** What happened to a message. */
export const correlated = named(
  "MessageTaken",
  z.strictObject({
    messageId: z.string(),
    outcome: z
      .enum(["delivered", "started", "buffered", "duplicate"])
      .describe(
        "`buffered`: kept for who waits later, or is busy and takes it in a moment; `duplicate`: taken before.",
      ),
    instanceId: z
      .string()
      .exactOptional()
      .describe("The instance that took it; the first, if instances of several processes did."),
  }),
);
