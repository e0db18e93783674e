import * as z from "zod";
import { INSTANCE_ID, INSTANCE_ID_RULE } from "../../definition/instance-id.ts";
import { MAX_BUSINESS_KEY_LENGTH, MAX_TAG_LENGTH, MAX_TAGS } from "../../definition/limits.ts";
import { MAX_RETRIES, MAX_TEXT_LENGTH, MAX_VERSION } from "../limits.ts";
import { listOf } from "./page.ts";
import { named } from "./registry.ts";
import { userTaskFields } from "./user-task.ts";
import {
  count,
  durationOrInstant,
  givenId,
  instant,
  json,
  newVariables,
  queryInstant,
  storableText,
  variables,
} from "./values.ts";

/** How an instance may have ended. */
export const ended = ["succeeded", "failed", "cancelled"] as const;
/** The status of an instance. */
export const status = z.enum(["running", "suspended", ...ended]);
const terminationKind = z.enum(["success", "failure", "cancel", "timeout"]);

/** Where an error came from, as far as it was reported. */
const traced = {
  name: z.string().exactOptional().describe("The name of the error, if reported."),
  stack: z.string().exactOptional().describe("Its stack, if reported."),
};

const failure = named(
  "Failure",
  z.strictObject({
    code: z.string().exactOptional(),
    message: z.string(),
    element: z.string().exactOptional(),
    ...traced,
  }),
);

/** A key by which instances are found, besides their id. */
export const businessKey = storableText({ min: 1, max: MAX_BUSINESS_KEY_LENGTH });
export const tag = storableText({ min: 1, max: MAX_TAG_LENGTH });

/** Filters of a list of instances; over HTTP, `incident` is text. */
export const instanceFilter = {
  definition: givenId.exactOptional().describe("The id of their definition."),
  status: status.exactOptional(),
  businessKey: businessKey.exactOptional(),
  tag: tag.exactOptional().describe("One of their tags."),
  startedAfter: queryInstant.exactOptional(),
  startedBefore: queryInstant.exactOptional(),
};

/** The request that starts an instance. */
export const start = named(
  "Start",
  z.strictObject({
    variables: newVariables.exactOptional(),
    input: json
      .exactOptional()
      .describe("Of a workflow in code: its input, any JSON, instead of variables."),
    instanceId: z.string().regex(INSTANCE_ID, { error: INSTANCE_ID_RULE }).exactOptional(),
    businessKey: businessKey.exactOptional(),
    version: z.int().min(1).max(MAX_VERSION).exactOptional().describe("The latest by default."),
    tags: z.array(tag).max(MAX_TAGS).exactOptional(),
    deadline: durationOrInstant.exactOptional(),
  }),
);

const origin = z.strictObject({ file: z.string(), line: z.int(), column: z.int() });

/** An incident of an instance. */
export const incident = named(
  "Incident",
  z.strictObject({
    incidentId: z.string(),
    type: z.string(),
    element: z.string(),
    message: z.string(),
    ...traced,
    at: origin
      .exactOptional()
      .describe(
        "Of an incident of one workflow in code: the operation that it is about. After a mismatch, what the program has there.",
      ),
    raisedAt: instant,
  }),
);

const call = z.strictObject({
  method: z.string(),
  path: z.string(),
  body: json.exactOptional(),
});

const wait = named(
  "Wait",
  z.strictObject({
    kind: z.enum([
      "task",
      "timer",
      "signal",
      "message",
      "event",
      "child",
      "continuation",
      "incident",
    ]),
    element: z.string(),
    since: instant,
    dueAt: instant.exactOptional(),
    name: z.string().exactOptional().describe("Of a signal, a message or an event."),
    correlationKey: z.string().exactOptional().describe("Of a message; empty where it has none."),
    process: z.string().exactOptional().describe("Of a child: the process that was called."),
    at: origin.exactOptional().describe("Of a workflow in code: where the operation is called."),
    childInstanceId: z
      .string()
      .exactOptional()
      .describe("The called instance; of a batch of calls, the first."),
    taskType: z.string().exactOptional(),
    taskId: z.string().exactOptional(),
    members: z
      .strictObject({ size: count, open: count })
      .exactOptional()
      .describe("Of a batch of tasks or calls: how many items it has, and how many are open."),
    runsHere: z.boolean().exactOptional().describe("The engine runs this task itself."),
    incidentId: z.string().exactOptional(),
    ...userTaskFields,
    claimWith: call
      .exactOptional()
      .describe("The exact call that claims the task; it names a user who may claim it."),
    wakeWith: call.exactOptional().describe("The exact call that would end this wait."),
  }),
);

/** The current state of an instance. */
export const instance = named(
  "Instance",
  z.strictObject({
    instanceId: z.string(),
    definition: z.strictObject({ id: z.string(), version: z.int() }),
    status,
    terminationKind: terminationKind.exactOptional(),
    businessKey: z.string().exactOptional(),
    tags: z.array(z.string()).exactOptional(),
    parent: z
      .strictObject({ instanceId: z.string(), awaited: z.boolean() })
      .exactOptional()
      .describe("The instance that called it, and whether that waits for its end."),
    variables,
    input: json.exactOptional().describe("Of a workflow in code: what it was started with."),
    activeElements: z.array(z.string()).describe("Distinct ids."),
    tokens: z
      .array(z.strictObject({ element: z.string(), count: z.int().min(1) }))
      .describe(
        "How often each active element is open; items of a multi-instance activity count separately.",
      ),
    completedElements: z.array(z.string()).describe("Distinct ids, by first completion."),
    waits: z.array(wait),
    incidents: z.array(incident),
    warnings: z
      .array(z.string())
      .exactOptional()
      .describe(
        "Conditions that will stop the instance unless someone acts; only while it is live.",
      ),
    startedAt: instant,
    updatedAt: instant,
    endedAt: instant.exactOptional(),
    result: json.exactOptional(),
    error: failure.exactOptional(),
  }),
);

/** A page of instances. */
export const instanceList = listOf("InstanceList", instance);

/** The result of an ended instance. */
export const result = named(
  "Result",
  z.strictObject({
    status: z.enum(ended),
    terminationKind,
    result: json.exactOptional(),
    variables,
    error: failure.exactOptional(),
  }),
);

/** Everything that an instance waits for. */
export const waits = named("Waits", z.strictObject({ items: z.array(wait) }));

/** A page of the history of an instance. */
export const history = listOf(
  "History",
  named(
    "HistoryEntry",
    z.strictObject({
      seq: count,
      at: instant,
      type: z.string(),
      element: z.string().exactOptional(),
      occurrence: count
        .describe(
          "The visit of the element: the same number from entering it to leaving it, unique within the instance. Absent in entries that are older than format 5.",
        )
        .exactOptional(),
      data: json.exactOptional(),
    }),
  ),
);

/** The request that cancels an instance. */
export const cancel = named(
  "Cancel",
  z.strictObject({ reason: z.string().max(MAX_TEXT_LENGTH).exactOptional() }),
);

/** Whether the cancel ended the instance. */
export const cancelled = named("Cancelled", z.strictObject({ cancelled: z.boolean() }));

/** The request that resolves an incident. */
export const resolve = named(
  "Resolve",
  z.strictObject({
    variables: newVariables.exactOptional(),
    retries: z.int().min(1).max(MAX_RETRIES).exactOptional(),
  }),
);

/** The request that sets variables. */
export const patch = named(
  "PatchVariables",
  z.strictObject({
    variables: newVariables,
    scope: givenId.exactOptional().describe("An open element; the process by default."),
  }),
);

/** The answer to it. */
export const patched = named("Patched", z.strictObject({ patched: z.literal(true) }));

/** The answer to a resolve. */
export const resolved = named("Resolved", z.strictObject({ resolved: z.literal(true) }));
