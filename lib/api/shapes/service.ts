import * as z from "zod";
import { MAX_TROUBLES_TOLD } from "../../definition/limits.ts";
import { named } from "./registry.ts";
import { count, duration, instant } from "./values.ts";

/** Health and version of the engine. */
export const health = named(
  "Health",
  z.strictObject({
    status: z.literal("ok"),
    version: z.string().describe("Of the engine."),
    clock: z.enum(["real", "virtual"]),
  }),
);

const trouble = named(
  "RecoveryTrouble",
  z.strictObject({
    key: z.strictObject({ pk: z.string(), sk: z.string() }).describe("Where it is stored."),
    instanceId: z.string().exactOptional().describe("If it is an instance."),
    code: z.string().describe("As in a problem document."),
    message: z.string(),
  }),
);

const recovered = z.strictObject({
  resumed: count.describe("Instances with unsent work that were resumed."),
  rearmed: count.describe("Timers that are not due yet and were armed again."),
  timersFired: count.describe("Timers that were overdue and fire at once."),
  resent: count.describe("Messages sent again for instances, to any queue."),
  mailboxesPoked: count.describe("Mailboxes with both a wait and a message, which were woken."),
  broadcastsResumed: count.describe("Broadcasts that had not reached every wait."),
  eventsOffered: count.describe("Events for a single wait, offered again."),
  skipped: count.describe(
    "Instances checked for which no message was sent and no timer armed: they needed neither.",
  ),
  unreadable: count.describe(
    "Items that this engine cannot read: too new, too old, or damaged. They are left unchanged.",
  ),
  failed: count.describe(
    "Items that could not be fully recovered, for example because a queue refused: recover again.",
  ),
  troubles: z
    .array(trouble)
    .max(MAX_TROUBLES_TOLD)
    .describe("Which items `unreadable` and `failed` count, and why; of many, the first."),
});

/** What a recovery found and did. */
export const recovery = named("Recovery", recovered);

/** The same for one page of instances. */
export const recoveryPage = named(
  "RecoveryPage",
  recovered.extend({ nextCursor: z.string().exactOptional() }),
);

/** The request that moves a virtual clock. */
export const advance = named("AdvanceClock", z.strictObject({ by: duration }));

/** The result of moving the clock. */
export const advanced = named(
  "ClockAdvanced",
  z.strictObject({
    now: instant,
    fired: count.describe("Timers that fired."),
    left: z
      .array(z.string())
      .describe("Work that was still running when the call answered; usually empty."),
  }),
);

/** The document itself; OpenAPI has its own schema, which is not repeated here. */
export const openApi = z.looseObject({ openapi: z.string() });
