/** What each call of the library may be given: the rules by which it is checked before it is made. */

import { MAX_ACTIVATED, MAX_LOCK_SECONDS, MAX_WAIT_SECONDS } from "../definition/limits.ts";
import {
  businessKey,
  correlationKey,
  deadlineText,
  durationText,
  flag,
  groupNames,
  idText,
  instantText,
  json,
  lastingDuration,
  milliseconds,
  nameText,
  newInstanceId,
  newVariables,
  nullable,
  oneOf,
  optional,
  pageSize,
  type Rule,
  settings,
  tagText,
  tagTexts,
  text,
  wholeNumber,
} from "../engine/request-rules.ts";
import type { IncidentFilter, PurgeFilter } from "../engine/shapes/bulk.ts";
import type { Source } from "../engine/shapes/definitions.ts";
import type { InstanceFilter, StartRequest } from "../engine/shapes/instances.ts";
import type { PageRequest } from "../engine/shapes/paging.ts";
import type { EventConfig, EventRequest, MessageRequest } from "../engine/shapes/signals.ts";
import type {
  ActivationRequest,
  ClaimRequest,
  HeartbeatRequest,
  TaskFailure,
  TaskFilter,
} from "../engine/shapes/tasks.ts";

/** A rule for every setting that a request has. */
type Of<T> = Readonly<Record<keyof T, Rule>>;

const page: Of<PageRequest> = { limit: optional(pageSize), cursor: optional(text) };
const source: Of<Source> = { notation: oneOf("bpmn", "journey", "code"), source: text };

const start: Of<StartRequest> = {
  variables: optional(newVariables),
  instanceId: optional(newInstanceId),
  businessKey: optional(businessKey),
  version: optional(wholeNumber(1)),
  tags: optional(tagTexts),
  deadline: optional(deadlineText),
};

const instances: Of<InstanceFilter> = {
  definition: optional(idText),
  status: optional(oneOf("running", "suspended", "succeeded", "failed", "cancelled")),
  businessKey: optional(businessKey),
  tag: optional(tagText),
  incident: optional(oneOf(true)),
  startedAfter: optional(instantText),
  startedBefore: optional(instantText),
};

const tasks: Of<TaskFilter> = {
  type: optional(idText),
  instanceId: optional(text),
  assignee: optional(nameText),
  candidateUser: optional(nameText),
  candidateGroup: optional(nameText),
  state: optional(oneOf("created", "claimed")),
  overdue: optional(oneOf(true)),
};

const claimed: Of<ClaimRequest> = { user: nameText, groups: optional(groupNames) };

const incidents: Of<IncidentFilter> = {
  definition: optional(idText),
  type: optional(idText),
  element: optional(idText),
  businessKey: optional(businessKey),
  tag: optional(tagText),
  startedAfter: optional(instantText),
  startedBefore: optional(instantText),
};

const purged: Of<PurgeFilter> = {
  definition: optional(idText),
  status: optional(oneOf("succeeded", "failed", "cancelled")),
  businessKey: optional(businessKey),
  tag: optional(tagText),
  endedBefore: optional(instantText),
};

const failure: Of<TaskFailure> = {
  lockToken: optional(text),
  message: text,
  code: optional(text),
  retries: optional(wholeNumber(0)),
  retryAfter: optional(durationText),
  variables: optional(newVariables),
};

const activation: Of<ActivationRequest> = {
  type: idText,
  max: wholeNumber(1, MAX_ACTIVATED),
  lockSeconds: wholeNumber(1, MAX_LOCK_SECONDS),
  worker: nameText,
  waitSeconds: optional(wholeNumber(0, MAX_WAIT_SECONDS)),
};

const heartbeat: Of<HeartbeatRequest> = {
  lockToken: text,
  lockSeconds: optional(wholeNumber(1, MAX_LOCK_SECONDS)),
};

const message: Of<MessageRequest> = {
  name: nameText,
  correlationKey: optional(correlationKey),
  payload: optional(newVariables),
  messageId: optional(nameText),
  timeToLive: optional(durationText),
};

const event: Of<EventRequest> = {
  name: nameText,
  payload: optional(json),
  target: optional(nameText),
  id: optional(nameText),
};

const eventType: Of<EventConfig> = {
  consumeOnRead: optional(flag),
  deliveryMode: optional(oneOf("AfterWait", "AfterCreate", "All")),
  expireAfter: optional(lastingDuration),
  onTargetTerminated: optional(oneOf("discard", "broadcast", "deadLetter")),
};

const key = optional(nameText);
const paged = { page: optional(settings(page)) };
const waiting = {
  instanceId: text,
  options: optional(settings({ timeoutMs: optional(milliseconds) })),
};
const completed = optional(
  settings({
    variables: optional(newVariables),
    user: optional(nameText),
    lockToken: optional(text),
  }),
);
const bulk = { ...page, dryRun: optional(flag) };
const resolved = optional(
  settings({ variables: optional(newVariables), retries: optional(wholeNumber(0)) }),
);

/** By what a call's arguments are called, the rule for each. */
export const RULES = {
  source: { source: settings(source) },
  definition: { id: idText, version: optional(wholeNumber(1)) },
  definitionSource: { id: idText, version: wholeNumber(1) },
  definitionId: { id: idText },
  deadLetter: { id: text },
  definitions: paged,
  schedules: paged,
  versions: { id: idText, ...paged },
  start: { definitionId: idText, request: optional(settings(start)), key },
  instance: { instanceId: text },
  list: { filter: optional(settings({ ...instances, ...page })) },
  history: { instanceId: text, ...paged },
  cancel: { instanceId: text, request: optional(settings({ reason: optional(text) })), key },
  resolveIncident: { instanceId: text, incidentId: text, request: resolved, key },
  patchVariables: {
    instanceId: text,
    request: settings({ variables: newVariables, scope: optional(idText) }),
    key,
  },
  incidents: { filter: optional(settings({ ...incidents, ...page })) },
  resolveIncidents: {
    request: optional(
      settings({
        filter: optional(settings(incidents)),
        variables: optional(newVariables),
        retries: optional(wholeNumber(0)),
        ...bulk,
      }),
    ),
  },
  purge: { request: optional(settings({ filter: optional(settings(purged)), ...bulk })) },
  tasks: { filter: optional(settings({ ...tasks, ...page })) },
  task: { taskId: text },
  claim: { taskId: text, request: settings(claimed), key },
  unclaim: { taskId: text, request: settings({ user: nameText }), key },
  complete: { taskId: text, request: completed, key },
  fail: { taskId: text, request: settings(failure), key },
  activate: { request: settings(activation) },
  heartbeat: { taskId: text, request: settings(heartbeat) },
  taskType: { type: idText },
  setTaskType: { type: idText, request: settings({ queueArn: nullable(text) }) },
  signal: {
    name: nameText,
    payload: optional(newVariables),
    options: optional(settings({ id: optional(nameText) })),
  },
  receipt: { broadcastId: text },
  message: { request: settings(message), key },
  event: { request: settings(event), key },
  eventType: { name: nameText },
  setEventType: { name: nameText, config: optional(settings(eventType)) },
  deadLetters: { filter: optional(settings({ name: optional(nameText), ...page })) },
  result: waiting,
  waitForEnd: { instanceId: text, timeoutMs: milliseconds },
  advanceClock: { by: text },
  close: { options: optional(settings({ graceMs: optional(milliseconds) })) },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Rule>>>>;
