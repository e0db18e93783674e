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
    payload: newVariables.exactOptional().describe("Becomes variables of whoever gets it."),
    messageId: givenId
      .exactOptional()
      .describe(
        "The same id for the same name and key is the same message; the Idempotency-Key unless said.",
      ),
    timeToLive: duration.exactOptional().meta({
      default: DEFAULT_TIME_TO_LIVE,
      description: "How long it is kept when nobody waits; PT0S: only for who waits now.",
    }),
  }),
);

/** Where a message went. */
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
      .describe("Who got it; the first of them, where several process ids did."),
  }),
);
