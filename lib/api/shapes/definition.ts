import * as z from "zod";
import { MAX_VERSION } from "../limits.ts";
import { listOf } from "./page.ts";
import { diagnostic } from "./problem.ts";
import { named } from "./registry.ts";
import { count, instant } from "./values.ts";

const version = z.int().min(1).max(MAX_VERSION);
const startEvents = z.array(
  z.strictObject({
    element: z.string(),
    kind: z.string().describe("What starts it: `none` (a call), `signal`, `message` or `timer`."),
    name: z.string().exactOptional().describe("Of the signal or the message."),
    timer: z
      .strictObject({
        as: z.enum(["duration", "date", "cycle"]),
        text: z.string(),
        zone: z.string().exactOptional(),
      })
      .exactOptional(),
    nextDue: instant
      .exactOptional()
      .describe("Of a timer of the latest version: when its next instance starts."),
  }),
);
const common = {
  id: z.string(),
  version,
  hash: z.string().describe("Identifies the content: equal sources have equal hashes."),
  notation: z.enum(["bpmn", "journey", "code"]),
  name: z.string().exactOptional(),
  startEvents,
};

/** One version of a definition, and the state of its id. */
export const definition = named(
  "Definition",
  z.strictObject({
    ...common,
    enabled: z.boolean(),
    deployedAt: instant,
    live: z
      .strictObject({ count, more: z.boolean() })
      .describe("Live instances of all versions, counted up to 1,000."),
  }),
);

/** A page of definitions. */
export const definitionList = listOf("DefinitionList", definition);

/** What a deploy stored, or found identical. */
export const deployment = named(
  "Deployment",
  z.strictObject({
    definitions: z.array(z.strictObject({ ...common, warnings: z.array(diagnostic) })),
  }),
);

/** The result of a validation: what a deploy would return. */
export const validation = named(
  "Validation",
  z.strictObject({ valid: z.boolean(), diagnostics: z.array(diagnostic) }),
);

const shards = z.union([1, 2, 4, 8, 16, 32, 64].map((number) => z.literal(number)));

/** Over how many shards lists should be spread. */
export const setListing = named("SetListing", z.strictObject({ shards }));

/** Over how many they are. */
export const listing = named(
  "Listing",
  z.strictObject({
    definition: z.string(),
    shards: shards.describe("Partitions of the listing index for each phase; only grows."),
  }),
);

/** The answer to an undeploy. */
export const undeployed = named("Undeployed", z.strictObject({ undeployed: z.boolean() }));

/** A source in JSON. */
export const sourceInJson = named(
  "Source",
  z.strictObject({ notation: z.enum(["bpmn", "journey"]), source: z.string().min(1) }),
);
