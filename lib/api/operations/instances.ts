import * as z from "zod";
import { EngineError } from "../../ports/engine-error.ts";
import type { ResultView } from "../../shapes/instances.ts";
import { ignoredBody, jsonBody } from "../body.ts";
import { paged } from "../cursor.ts";
import { MAX_WAIT_SECONDS } from "../limits.ts";
import { type Host, nothing, type Operation, operation } from "../operation.ts";
import * as shape from "../shapes/instance.ts";
import { pageOf, pageQuery } from "../shapes/page.ts";
import { idText, integerText } from "../shapes/values.ts";
import { viewInstance, viewItems, viewWait } from "../wait-calls.ts";

const byId = z.strictObject({ instanceId: idText });
const tag = "Instances";

/** Starting, reading, cancelling and repairing instances. */
export const instanceOperations: readonly Operation[] = [
  operation({
    id: "start",
    method: "POST",
    path: "/v1/definitions/{definitionId}/instances",
    tag,
    summary: "Start an instance",
    description:
      "Answers when the start is durable. Repeating it with the same `instanceId` or Idempotency-Key and the same body answers with the existing instance.",
    takesKey: true,
    params: z.strictObject({ definitionId: idText }),
    query: nothing,
    body: jsonBody(shape.start),
    answers: { 201: "Started, now or by an earlier try of this request." },
    answer: shape.instance,
    answerHeaders: { location: "The path of the instance." },
    problems: [
      "definition/not-found",
      "definition/disabled",
      "definition/not-startable",
      "definition/notation-differs",
      "instance/id-taken",
      "request/key-reused",
    ],
    run: async ({ params, body, key }, { engine }) => {
      const instance = viewInstance(await engine.start(params.definitionId, body, key));
      return {
        status: 201,
        headers: { location: `/v1/instances/${encodeURIComponent(instance.instanceId)}` },
        json: instance,
      };
    },
  }),
  operation({
    id: "list",
    method: "GET",
    path: "/v1/instances",
    tag,
    summary: "List instances, the newest first",
    description:
      "The most selective of business key, tag, and status with definition is read by its index; other filters apply after reading: a page may be short, even empty, and still have a `nextCursor`. A cursor is good for the filter that it came with.",
    params: nothing,
    query: z.strictObject({
      ...shape.instanceFilter,
      incident: z
        .literal("true")
        .transform((): true => true)
        .pipe(z.literal(true))
        .exactOptional()
        .describe("Only instances with an open incident."),
      ...pageQuery,
    }),
    body: ignoredBody,
    answers: { 200: "A page of instances." },
    answer: shape.instanceList,
    problems: ["store/cursor-invalid"],
    run: async ({ query }, { engine }) => {
      const { limit, cursor, ...filter } = query;
      const list = await engine.list(filter, pageOf(query));
      return { status: 200, json: paged(viewItems(list, viewInstance)) };
    },
  }),
  operation({
    id: "get",
    method: "GET",
    path: "/v1/instances/{instanceId}",
    tag,
    summary: "Get an instance",
    params: byId,
    query: nothing,
    body: ignoredBody,
    answers: { 200: "The instance as it stands." },
    answer: shape.instance,
    problems: ["instance/not-found"],
    run: async ({ params }, { engine }) => ({
      status: 200,
      json: viewInstance(await engine.get(params.instanceId)),
    }),
  }),
  operation({
    id: "result",
    method: "GET",
    path: "/v1/instances/{instanceId}/result",
    tag,
    summary: "Get the result of an instance",
    params: byId,
    query: z.strictObject({
      waitSeconds: integerText({ min: 0, max: MAX_WAIT_SECONDS })
        .exactOptional()
        .meta({ default: 0, description: "How long to wait for its end." }),
    }),
    body: ignoredBody,
    answers: { 200: "It has ended." },
    answer: shape.result,
    problems: ["instance/not-found", "instance/not-ended"],
    run: async ({ params, query }, host) => ({
      status: 200,
      json: await resultWithin(params.instanceId, (query.waitSeconds ?? 0) * 1_000, host),
    }),
  }),
  operation({
    id: "waits",
    method: "GET",
    path: "/v1/instances/{instanceId}/waits",
    tag,
    summary: "What an instance waits for",
    params: byId,
    query: nothing,
    body: ignoredBody,
    answers: { 200: "Everything that it waits for, each with the call that would end the wait." },
    answer: shape.waits,
    problems: ["instance/not-found"],
    run: async ({ params }, { engine }) => ({
      status: 200,
      json: viewItems(await engine.waits(params.instanceId), viewWait),
    }),
  }),
  operation({
    id: "history",
    method: "GET",
    path: "/v1/instances/{instanceId}/history",
    tag,
    summary: "The history of an instance",
    description:
      "In order and complete up to the last answered write. Entries of one visit of an element have the same `occurrence`.",
    params: byId,
    query: z.strictObject(pageQuery),
    body: ignoredBody,
    answers: { 200: "A page of history, the oldest first." },
    answer: shape.history,
    problems: ["instance/not-found", "store/cursor-invalid"],
    run: async ({ params, query }, { engine }) => ({
      status: 200,
      json: paged(await engine.history(params.instanceId, pageOf(query))),
    }),
  }),
  operation({
    id: "cancel",
    method: "POST",
    path: "/v1/instances/{instanceId}/cancel",
    tag,
    summary: "Cancel an instance",
    takesKey: true,
    params: byId,
    query: nothing,
    body: jsonBody(shape.cancel),
    answers: { 200: "`cancelled` is false where it had ended before." },
    answer: shape.cancelled,
    problems: ["instance/not-found", "request/key-reused"],
    run: async ({ params, body, key }, { engine }) => ({
      status: 200,
      json: await engine.cancel(params.instanceId, body, key),
    }),
  }),
  operation({
    id: "erase",
    method: "DELETE",
    path: "/v1/instances/{instanceId}",
    tag,
    summary: "Erase an ended instance",
    description:
      "Its values, its result and its history are deleted at once. A tombstone with its id and its end stays for 15 days, for late messages.",
    params: byId,
    query: nothing,
    body: ignoredBody,
    answers: { 204: "Erased, now or before." },
    answer: z.undefined(),
    answerTypes: [],
    problems: ["instance/not-found", "instance/not-ended"],
    run: async ({ params }, { engine }) => {
      await engine.erase(params.instanceId);
      return { status: 204, empty: true };
    },
  }),
  operation({
    id: "patchVariables",
    method: "PATCH",
    path: "/v1/instances/{instanceId}/variables",
    tag,
    summary: "Set variables of a live instance",
    description:
      "Of the process, or of `scope`, an element that is open exactly once: there they become local to it. No token moves, and the history names the variables that were set.",
    takesKey: true,
    params: byId,
    query: nothing,
    body: jsonBody(shape.patch),
    answers: { 200: "They are set." },
    answer: shape.patched,
    problems: [
      "instance/not-found",
      "instance/not-live",
      "instance/variables-fixed",
      "instance/scope-not-found",
      "instance/scope-ambiguous",
      "request/key-reused",
    ],
    run: async ({ params, body, key }, { engine }) => ({
      status: 200,
      json: await engine.patchVariables(params.instanceId, body, key),
    }),
  }),
  operation({
    id: "resolveIncident",
    method: "POST",
    path: "/v1/instances/{instanceId}/incidents/{incidentId}/resolve",
    tag,
    summary: "Resolve an incident: the failed step is retried",
    takesKey: true,
    params: z.strictObject({ instanceId: idText, incidentId: idText }),
    query: nothing,
    body: jsonBody(shape.resolve),
    answers: { 200: "Resolved." },
    answer: shape.resolved,
    problems: ["instance/not-found", "incident/not-found", "request/key-reused"],
    run: async ({ params, body, key }, { engine }) => ({
      status: 200,
      json: await engine.resolveIncident(params.instanceId, params.incidentId, body, key),
    }),
  }),
];

/** Waits only for live instances: the first read decides all other cases. */
async function resultWithin(
  instanceId: string,
  waitMs: number,
  { engine, extras }: Host,
): Promise<ResultView> {
  try {
    return await engine.result(instanceId);
  } catch (error) {
    const isLive = error instanceof EngineError && error.code === "instance/not-ended";
    if (!isLive || waitMs === 0 || extras.waitForEnd === undefined) throw error;
  }
  await extras.waitForEnd(instanceId, waitMs);
  return engine.result(instanceId);
}
