import * as z from "zod";
import { MAX_VERSION } from "../limits.ts";
import { listOf } from "./page.ts";
import { named } from "./registry.ts";
import { count, instant } from "./values.ts";

/** A page of timer start events. */
export const scheduleList = listOf(
  "ScheduleList",
  named(
    "Schedule",
    z.strictObject({
      id: z.string(),
      definition: z.strictObject({ id: z.string(), version: z.int().min(1).max(MAX_VERSION) }),
      element: z.string().describe("The start event."),
      kind: z.enum(["duration", "date", "cycle", "cron"]),
      text: z.string().describe("As the definition has it."),
      zone: z.string().describe("The zone whose calendar and wall clock count."),
      nextDue: instant
        .exactOptional()
        .describe("Absent while it is not enabled, and when no repetition is left."),
      remaining: count.exactOptional().describe("Absent where it never ends."),
      enabled: z.boolean(),
      fired: count.describe("Instances started since it was deployed or enabled last."),
    }),
  ),
);
