import {
  getDefinition,
  listDefinitions,
  listVersions,
  readSource,
  switchState,
  viewLatest,
} from "./definitions/definitions.ts";
import { deploy, validate } from "./definitions/deploy.ts";
import { advance } from "./drive/advance.ts";
import { giveUp, receive } from "./drive/give-up.ts";
import type { Engine } from "./engine.ts";
import { listDeadLetters, removeDeadLetter } from "./events/dead-letter.ts";
import { replayDeadLetter, sendEvent } from "./events/send-event.ts";
import { HANDLERS } from "./handlers.ts";
import { purge, resolveIncidents } from "./instances/bulk.ts";
import { erase } from "./instances/erase.ts";
import { markedPage } from "./instances/filter.ts";
import { readHistory } from "./instances/history.ts";
import { listIncidents } from "./instances/incidents.ts";
import {
  cancel,
  getInstance,
  getResult,
  listWaits,
  patchVariables,
  resolveIncident,
} from "./instances/instance-calls.ts";
import { listInstances } from "./instances/listing.ts";
import { getListing, setListing } from "./instances/shards.ts";
import { start } from "./instances/start.ts";
import { viewInstance } from "./instances/views.ts";
import { publishMessage } from "./messages/publish.ts";
import { adopt } from "./recovery/adopt.ts";
import { recover, recoverAll } from "./recovery/recover.ts";
import { sweep } from "./recovery/sweep.ts";
import { wake } from "./recovery/wake.ts";
import { turnWheel } from "./recovery/wheel.ts";
import { getEventType, setEventType } from "./rows/event-type.ts";
import { getTaskType, setTaskType } from "./rows/task-type.ts";
import { SENDERS } from "./senders.ts";
import { readReceipt } from "./signals/receipt.ts";
import { signal } from "./signals/signal.ts";
import { asideOf } from "./step/guarded.ts";
import { listSchedules, removeSchedule } from "./timer-starts/schedules.ts";
import { claimTask, unclaimTask } from "./user-tasks/claim-task.ts";
import { activate } from "./workers/activate.ts";
import { completeTask, extendLock, failTask, getTask, listTasks } from "./workers/task-calls.ts";
import type { HostWorld, World } from "./world.ts";

/** A host's world with what the engine brings itself. */
export const worldOf = (given: HostWorld): World => ({
  ...given,
  senders: SENDERS,
  handlers: HANDLERS,
});

/** An engine on this world. It holds nothing but caches: any number may share a store. */
export function createEngine(given: HostWorld): Engine {
  const world = worldOf(given);
  return {
    handle: (message, invocation) => receive(world, message, invocation),
    wake: (key, invocation) => wake(asideOf(world, invocation), key, invocation),
    advance: (messages, invocation) => advance(asideOf(world, invocation), messages, invocation),
    recover: () => recover(world),
    recoverAll: (page) => recoverAll(world, page),
    adopt: (pace) => adopt(world, pace),
    sweep: (slice, pace) => sweep(world, slice, pace),
    turnWheel: (slice, pace) => turnWheel(world, slice, pace),
    giveUp: (message, invocation) => giveUp(world, message, invocation),

    deploy: (source) => deploy(world, source),
    validate: (source) => validate(world, source),
    definitions: (page) =>
      markedPage(world, ["definitions"], page, (own) => listDefinitions(world, own)),
    definition: (id, version) => getDefinition(world, id, version),
    versions: (id, page) =>
      markedPage(world, ["versions", id], page, (own) => listVersions(world, id, own)),
    source: (id, version) => readSource(world, id, version),
    enable: async (id) => viewLatest(world, await switchState(world, id, "enabled")),
    disable: async (id) => viewLatest(world, await switchState(world, id, "disabled")),
    undeploy: async (id) => {
      await switchState(world, id, "undeployed");
      return { undeployed: true };
    },
    listing: (id) => getListing(world, id),
    setListing: (id, request) => setListing(world, id, request),
    schedules: (page) => markedPage(world, ["schedules"], page, (own) => listSchedules(world, own)),
    removeSchedule: (id) => removeSchedule(world, id),

    start: async (definitionId, request = {}, key) =>
      viewInstance(world, await start(world, definitionId, request, key)),
    get: async (instanceId) => viewInstance(world, await getInstance(world, instanceId)),
    list: (filter, page) => listInstances(world, filter, page),
    result: (instanceId) => getResult(world, instanceId),
    waits: (instanceId) => listWaits(world, instanceId),
    history: (id, page) =>
      markedPage(world, ["history", id], page, (own) => readHistory(world, id, own)),
    cancel: (instanceId, request = {}, key) => cancel(world, instanceId, request, key),
    erase: (instanceId) => erase(world, instanceId),
    resolveIncident: (instanceId, incidentId, request = {}, key) =>
      resolveIncident(world, { instanceId, incidentId, key }, request),
    patchVariables: (instanceId, request, key) => patchVariables(world, instanceId, request, key),

    incidents: (filter, page) => listIncidents(world, filter, page),
    resolveIncidents: (request) => resolveIncidents(world, request),
    purge: (request) => purge(world, request),

    signal: (request, key) => signal(world, request, key),
    receipt: (broadcastId) => readReceipt(world, broadcastId),
    message: (request, key) => publishMessage(world, request, key),
    event: (request, key) => sendEvent(world, request, key),
    setEventType: (name, config) => setEventType(world, name, config),
    eventType: (name) => getEventType(world, name),
    deadLetters: (filter, page) =>
      markedPage(world, ["dead-letters", filter], page, (own) =>
        listDeadLetters(world, filter, own),
      ),
    replayDeadLetter: (id) => replayDeadLetter(world, id),
    removeDeadLetter: (id) => removeDeadLetter(world, id),

    tasks: (filter, page) =>
      markedPage(world, ["tasks", filter], page, (own) => listTasks(world, filter, own)),
    task: (taskId) => getTask(world, taskId),
    claimTask: (taskId, request, key) => claimTask(world, taskId, request, key),
    unclaimTask: (taskId, request, key) => unclaimTask(world, taskId, request, key),
    completeTask: (taskId, request = {}, key) => completeTask(world, taskId, request, key),
    failTask: (taskId, request, key) => failTask(world, taskId, request, key),
    activate: (request) => activate(world, request),
    heartbeat: (taskId, request) => extendLock(world, taskId, request),
    setTaskType: (type, request) => setTaskType(world, type, request),
    taskType: (type) => getTaskType(world, type),
  };
}
