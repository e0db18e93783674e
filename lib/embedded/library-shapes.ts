/**
 * The arguments of each call of the library, by name: the shapes of the HTTP API, with numbers and
 * flags where its queries have text. An id that the engine generated may be any text: an unknown
 * one is not found.
 */
import * as z from "zod";
import { MAX_VERSION } from "../api/limits.ts";
import { incidentFilter, purge, resolveMany } from "../api/shapes/bulk.ts";
import { sourceInJson } from "../api/shapes/definition.ts";
import { event, eventSettings } from "../api/shapes/event.ts";
import { cancel, instanceFilter, patch, resolve, start } from "../api/shapes/instance.ts";
import { message } from "../api/shapes/message.ts";
import { page } from "../api/shapes/page.ts";
import { advance } from "../api/shapes/service.ts";
import { signal } from "../api/shapes/signal.ts";
import { complete, fail } from "../api/shapes/task.ts";
import { claim, unclaim, userTaskFilter } from "../api/shapes/user-task.ts";
import { givenId, integer, nameText, taskTypeName } from "../api/shapes/values.ts";
import { activate, heartbeat, setTaskType } from "../api/shapes/worker.ts";
import { body, settings } from "./check-arguments.ts";

const text = z.string();
const key = nameText.optional();
const version = integer({ min: 1, max: MAX_VERSION });
const flag = z.literal(true).exactOptional();
const paged = { page: list({}) };
const source = settings(
  sourceInJson.extend({ notation: z.enum(["bpmn", "journey", "code"]), source: text }),
);

/** For ever, if infinite. */
const milliseconds = z.custom<number>((value) => typeof value === "number" && value >= 0, {
  error: "must be a number of milliseconds, at least 0",
});

/** A filter and a page in one object, as lists take them. */
function list<F extends z.core.$ZodLooseShape>(filter: F) {
  return settings(z.strictObject({ ...filter, ...page })).prefault({});
}

/** A filter within settings. */
const within = <S extends z.ZodType>(filter: z.ZodExactOptional<S>) =>
  settings(filter.unwrap()).exactOptional();

/** The shape of each argument, by the name of the call. */
export const CALLS = {
  source: { source },
  definitions: paged,
  definition: { id: givenId, version: version.optional() },
  versions: { id: givenId, ...paged },
  definitionSource: { id: givenId, version },
  definitionId: { id: givenId },
  schedules: paged,
  start: { definitionId: givenId, request: body(start).optional(), key },
  instance: { instanceId: text },
  list: { filter: list({ ...instanceFilter, incident: flag }) },
  history: { instanceId: text, ...paged },
  cancel: { instanceId: text, request: body(cancel).optional(), key },
  resolveIncident: {
    instanceId: text,
    incidentId: text,
    request: body(resolve).optional(),
    key,
  },
  patchVariables: { instanceId: text, request: body(patch), key },
  incidents: { filter: list(incidentFilter) },
  resolveIncidents: {
    request: body(resolveMany.extend({ filter: within(resolveMany.shape.filter) })).optional(),
  },
  purge: { request: settings(purge.extend({ filter: within(purge.shape.filter) })).optional() },
  tasks: {
    filter: list({
      type: taskTypeName.exactOptional(),
      instanceId: text.exactOptional(),
      ...userTaskFilter,
      overdue: flag,
    }),
  },
  task: { taskId: text },
  claim: { taskId: text, request: body(claim), key },
  unclaim: { taskId: text, request: body(unclaim), key },
  complete: { taskId: text, request: body(complete).optional(), key },
  fail: { taskId: text, request: body(fail), key },
  activate: { request: settings(activate) },
  heartbeat: { taskId: text, request: settings(heartbeat) },
  taskType: { type: taskTypeName },
  setTaskType: { type: taskTypeName, request: settings(setTaskType) },
  signal: {
    request: body(signal.omit({ id: true })),
    options: settings(signal.pick({ id: true })).optional(),
  },
  receipt: { broadcastId: text },
  message: { request: body(message), key },
  event: { request: body(event), key },
  eventType: { name: nameText },
  setEventType: { name: nameText, config: settings(eventSettings).optional() },
  deadLetters: { filter: list({ name: nameText.exactOptional() }) },
  made: { id: text },
  result: {
    instanceId: text,
    options: settings(z.strictObject({ timeoutMs: milliseconds.exactOptional() })).optional(),
  },
  waitForEnd: { instanceId: text, timeoutMs: milliseconds },
  advanceClock: { by: advance.shape.by },
  close: {
    options: settings(z.strictObject({ graceMs: milliseconds.exactOptional() })).optional(),
  },
} as const;
