import * as z from "zod";
import { MAX_CANDIDATES } from "../../definition/limits.ts";
import { named } from "./registry.ts";
import { instant, json, nameText } from "./values.ts";

/** What a task that a person does shows of itself, among tasks and among waits. */
export const personFields = {
  state: z
    .enum(["created", "claimed"])
    .exactOptional()
    .describe("Of a user task: whether somebody has it."),
  assignee: z.string().exactOptional(),
  candidateUsers: z.array(z.string()).exactOptional(),
  candidateGroups: z.array(z.string()).exactOptional(),
  dueDate: instant.exactOptional(),
  followUpDate: instant.exactOptional(),
  priority: z.int().min(0).max(100).exactOptional(),
};

/** What else a task shows of what it takes to do it. */
export const workFields = {
  requiredOutputs: z
    .array(z.string())
    .exactOptional()
    .describe("Variables that must come with the completion."),
  form: z
    .strictObject({
      formId: z.string().exactOptional(),
      binding: z.enum(["latest", "deployment", "versionTag"]).exactOptional(),
      versionTag: z.string().exactOptional(),
      externalReference: z.string().exactOptional(),
      formKey: z.string().exactOptional(),
      body: json.exactOptional(),
    })
    .exactOptional()
    .describe(
      "As the definition says it; `body` is there when one task is asked for and the definition has the form itself.",
    ),
};

/** Filters of a list of tasks that find those which people do; `overdue` is text over HTTP. */
export const personFilter = {
  assignee: nameText.exactOptional(),
  candidateUser: nameText.exactOptional(),
  candidateGroup: nameText.exactOptional(),
  state: z.enum(["created", "claimed"]).exactOptional(),
};

/** The request that gives a task to a person. */
export const claim = named(
  "ClaimTask",
  z.strictObject({
    user: nameText,
    groups: z
      .array(nameText)
      .max(MAX_CANDIDATES)
      .exactOptional()
      .describe("Groups that the user is known to be in; left out, the caller answers for that."),
  }),
);

/** The answer to a claim. */
export const claimed = named("Claimed", z.strictObject({ claimed: z.literal(true) }));

/** The request that gives it back. */
export const unclaim = named("UnclaimTask", z.strictObject({ user: nameText }));

/** The answer to an unclaim. */
export const unclaimed = named("Unclaimed", z.strictObject({ unclaimed: z.literal(true) }));
