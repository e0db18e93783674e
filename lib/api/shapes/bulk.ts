import * as z from "zod";
import { DEFAULT_BULK_SIZE } from "../../definition/limits.ts";
import { MAX_RETRIES } from "../limits.ts";
import { businessKey, ended, incident, tag } from "./instance.ts";
import { listOf, page } from "./page.ts";
import { named } from "./registry.ts";
import { count, givenId, instant, newVariables, queryInstant } from "./values.ts";

/** Filters of incidents; all given ones apply. */
export const incidentFilter = {
  definition: givenId.exactOptional().describe("The id of their definition."),
  type: givenId.exactOptional().describe("Of the incident, such as JOB_NO_RETRIES."),
  element: givenId.exactOptional().describe("Where it happened."),
  businessKey: businessKey.exactOptional(),
  tag: tag.exactOptional().describe("One of the instance's tags."),
  startedAfter: queryInstant.exactOptional().describe("Of the instance."),
  startedBefore: queryInstant.exactOptional().describe("Of the instance."),
};

const whose = {
  instanceId: z.string(),
  definition: z.strictObject({ id: z.string(), version: z.int() }),
};

const foundIncident = incident.extend({ ...whose, businessKey: z.string().exactOptional() });

/** A page of incidents. */
export const incidentList = listOf("IncidentList", named("FoundIncident", foundIncident));

/** What every bulk call takes besides its filter. */
const bulk = {
  dryRun: z.boolean().exactOptional().meta({
    default: true,
    description: "A dry run, which only reports what would be done; true by default.",
  }),
  limit: page.limit.meta({
    default: DEFAULT_BULK_SIZE,
    description: "How many at most in this call.",
  }),
  cursor: page.cursor.describe("The `nextCursor` of the call before, unchanged."),
};

const problem = z.strictObject({ code: z.string(), message: z.string() });
const faredAs = (done: "resolved" | "purged") => ({
  outcome: z
    .enum(["matched", done, "gone", "refused"])
    .describe("`matched` in a dry run; `gone`: already handled by another request."),
  problem: problem.exactOptional().describe("Why it was refused."),
});

const report = {
  dryRun: z.boolean(),
  matched: count.describe("How many of them this call has handled, or found in a dry run."),
  gone: count.describe("Already handled by another request."),
  refused: count.describe("These could not be handled; each says why."),
  nextCursor: z.string().exactOptional().describe("There may be more: pass it as `cursor`."),
};

/** The request that resolves many incidents. */
export const resolveMany = named(
  "ResolveMany",
  z.strictObject({
    filter: z.strictObject(incidentFilter).exactOptional(),
    variables: newVariables.exactOptional(),
    retries: z.int().min(1).max(MAX_RETRIES).exactOptional(),
    ...bulk,
  }),
);

/** What came of it. */
export const resolveReport = named(
  "ResolveReport",
  z.strictObject({
    ...report,
    resolved: count,
    items: z.array(named("ResolvedIncident", foundIncident.extend(faredAs("resolved")))),
  }),
);

/** The request that erases many ended instances. */
export const purge = named(
  "Purge",
  z.strictObject({
    filter: z
      .strictObject({
        definition: givenId.exactOptional(),
        status: z.enum(ended).exactOptional(),
        businessKey: businessKey.exactOptional(),
        tag: tag.exactOptional(),
        endedBefore: queryInstant.exactOptional(),
      })
      .exactOptional(),
    ...bulk,
  }),
);

/** What came of it. */
export const purgeReport = named(
  "PurgeReport",
  z.strictObject({
    ...report,
    purged: count,
    items: z.array(
      named(
        "PurgedInstance",
        z.strictObject({
          ...whose,
          status: z.enum(ended),
          endedAt: instant,
          ...faredAs("purged"),
        }),
      ),
    ),
  }),
);
