import * as z from "zod";
import { MAX_TROUBLES_TOLD } from "../../definition/limits.ts";
import { named } from "./registry.ts";
import { count, duration, instant } from "./values.ts";

/** That the engine answers, and which one it is. */
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
    instanceId: z.string().exactOptional().describe("Where it is an instance."),
    code: z.string().describe("As in a problem document."),
    message: z.string(),
  }),
);

const recovered = z.strictObject({
  resumed: count.describe("Instances that owed something and were set going again."),
  rearmed: count.describe("Timers that are ahead and were armed again."),
  timersFired: count.describe("Timers that were overdue and were set to fire at once."),
  resent: count.describe("Messages sent again for instances, to whatever queue."),
  mailboxesPoked: count.describe("Mailboxes in which somebody waited while something was there."),
  broadcastsResumed: count.describe("Broadcasts that had not reached everybody."),
  eventsOffered: count.describe("Events for one taker, offered again to those who wait."),
  skipped: count.describe(
    "Instances looked at for which no message was sent and no timer set: they needed neither.",
  ),
  unreadable: count.describe(
    "Items that this engine cannot read: too new, too old, or damaged. They are left as they are.",
  ),
  failed: count.describe(
    "Items that could not wholly be seen to, as when a queue refused: recover again.",
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

/** How far the clock got. */
export const advanced = named(
  "ClockAdvanced",
  z.strictObject({
    now: instant,
    fired: count.describe("Timers that came due on the way."),
    left: z
      .array(z.string())
      .describe("What had not come to rest when the call answered; empty as a rule."),
  }),
);

/** The document itself; OpenAPI has its own schema, which is not repeated here. */
export const openApi = z.looseObject({ openapi: z.string() });
