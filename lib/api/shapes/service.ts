import * as z from "zod";
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

const recovered = z.strictObject({
  resumed: count,
  rearmed: count,
  timersFired: count,
  resent: count,
  mailboxesPoked: count,
  broadcastsResumed: count,
  eventsOffered: count,
  failed: count.describe("What could not be recovered now, and was left alone: ask again."),
  skipped: count,
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
