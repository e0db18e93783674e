import * as z from "zod";
import { MAX_CANDIDATES } from "../../definition/limits.ts";
import { named } from "./registry.ts";
import { instant, json, nameText } from "./values.ts";

/** Fields of a user task, in lists of tasks and of waits. */
export const userTaskFields = {
  state: z
    .enum(["created", "claimed"])
    .exactOptional()
    .describe("Of a user task: whether it is claimed."),
  assignee: z.string().exactOptional(),
  candidateUsers: z.array(z.string()).exactOptional(),
  candidateGroups: z.array(z.string()).exactOptional(),
  dueDate: instant.exactOptional(),
  followUpDate: instant.exactOptional(),
  priority: z.int().min(0).max(100).exactOptional(),
};

/** Further fields of a user task: form and required variables. */
export const workFields = {
  requiredOutputs: z
    .array(z.string())
    .exactOptional()
    .describe("Variables that the completion must set."),
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
      "As in the definition; `body` is set when a single task is read and the form is embedded in the definition.",
    ),
};

/** Filters for user tasks in a list of tasks; over HTTP, `overdue` is text. */
export const userTaskFilter = {
  assignee: nameText.exactOptional(),
  candidateUser: nameText.exactOptional(),
  candidateGroup: nameText.exactOptional(),
  state: z.enum(["created", "claimed"]).exactOptional(),
};

/** The request that claims a task. */
export const claim = named(
  "ClaimTask",
  z.strictObject({
    user: nameText,
    groups: z
      .array(nameText)
      .max(MAX_CANDIDATES)
      .exactOptional()
      .describe("Groups of the user; if omitted, the caller is responsible for that check."),
  }),
);

/** The answer to a claim. */
export const claimed = named("Claimed", z.strictObject({ claimed: z.literal(true) }));

/** The request that unclaims a task. */
export const unclaim = named("UnclaimTask", z.strictObject({ user: nameText }));

/** The answer to an unclaim. */
export const unclaimed = named("Unclaimed", z.strictObject({ unclaimed: z.literal(true) }));
