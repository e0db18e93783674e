import { adopt } from "./adopt.ts";
import { advance } from "./advance.ts";
import { listIncidents } from "./bulk/incidents.ts";
import { purge } from "./bulk/purge.ts";
import { resolveIncidents } from "./bulk/resolve.ts";
import { childRoads } from "./children/roads.ts";
import {
  getDefinition,
  listDefinitions,
  listVersions,
  readSource,
  switchState,
  viewLatest,
} from "./definitions.ts";
import { deploy, validate } from "./deploy.ts";
import type { Engine } from "./engine.ts";
import { erase } from "./erase.ts";
import { listDeadLetters, removeDeadLetter } from "./events/dead-letter.ts";
import { getEventType, setEventType } from "./events/event-type.ts";
import { replayDeadLetter, sendEvent } from "./events/send-event.ts";
import { giveUp } from "./give-up.ts";
import { handle, wake } from "./handle.ts";
import { readHistory } from "./history.ts";
import { cancel, getInstance, getResult, listWaits, resolveIncident } from "./instance-calls.ts";
import { getListing, setListing } from "./listing/shards.ts";
import { listInstances } from "./listing.ts";
import { publishMessage } from "./messages/publish.ts";
import { patchVariables } from "./patch-variables.ts";
import { claimTask, unclaimTask } from "./people/claim-task.ts";
import { recover, recoverAll } from "./recover.ts";
import { start } from "./start.ts";
import { sweep } from "./sweep.ts";
import { beat, completeTask, failTask, getTask, listTasks } from "./task-calls.ts";
import { listSchedules, removeSchedule } from "./timer-starts/schedules.ts";
import { readReceipt } from "./topics/receipt.ts";
import { signal } from "./topics/signal.ts";
import { viewInstance } from "./views.ts";
import { turnWheel } from "./wheel.ts";
import { activate } from "./workers/activate.ts";
import { getTaskType, setTaskType } from "./workers/task-type.ts";
import type { World } from "./world.ts";

/** An engine on this world. It holds nothing but caches: any number may share a store. */
export function createEngine(given: World): Engine {
  const world: World = { ...given, children: childRoads };
  return {
    handle: (message, invocation) => handle(world, message, invocation),
    wake: (key, invocation) => wake(world, key, invocation),
    advance: (messages, invocation) => advance(world, messages, invocation),
    recover: () => recover(world),
    recoverAll: (page) => recoverAll(world, page),
    adopt: (pace) => adopt(world, pace),
    sweep: (slice, pace) => sweep(world, slice, pace),
    turnWheel: (slice, pace) => turnWheel(world, slice, pace),
    giveUp: (message, invocation) => giveUp(world, message, invocation),

    deploy: (source) => deploy(world, source),
    validate: (source) => validate(world, source),
    definitions: (page) => listDefinitions(world, page),
    definition: (id, version) => getDefinition(world, id, version),
    versions: (id, page) => listVersions(world, id, page),
    source: (id, version) => readSource(world, id, version),
    enable: async (id) => viewLatest(world, await switchState(world, id, "enabled")),
    disable: async (id) => viewLatest(world, await switchState(world, id, "disabled")),
    undeploy: async (id) => {
      await switchState(world, id, "undeployed");
      return { undeployed: true };
    },
    listing: (id) => getListing(world, id),
    setListing: (id, request) => setListing(world, id, request),
    schedules: (page) => listSchedules(world, page),
    removeSchedule: (id) => removeSchedule(world, id),

    start: async (definitionId, request = {}, key) =>
      viewInstance(world, await start(world, definitionId, request, key)),
    get: async (instanceId) => viewInstance(world, await getInstance(world, instanceId)),
    list: (filter, page) => listInstances(world, filter, page),
    result: (instanceId) => getResult(world, instanceId),
    waits: (instanceId) => listWaits(world, instanceId),
    history: (instanceId, page) => readHistory(world, instanceId, page),
    cancel: (instanceId, request = {}, key) => cancel(world, instanceId, request, key),
    erase: (instanceId) => erase(world, instanceId),
    resolveIncident: (instanceId, incidentId, request = {}, key) =>
      resolveIncident(world, instanceId, incidentId, request, key),
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
    deadLetters: (filter, page) => listDeadLetters(world, filter, page),
    replayDeadLetter: (id) => replayDeadLetter(world, id),
    removeDeadLetter: (id) => removeDeadLetter(world, id),

    tasks: (filter, page) => listTasks(world, filter, page),
    task: (taskId) => getTask(world, taskId),
    claimTask: (taskId, request, key) => claimTask(world, taskId, request, key),
    unclaimTask: (taskId, request, key) => unclaimTask(world, taskId, request, key),
    completeTask: (taskId, request = {}, key) => completeTask(world, taskId, request, key),
    failTask: (taskId, request, key) => failTask(world, taskId, request, key),
    activate: (request) => activate(world, request),
    heartbeat: (taskId, request) => beat(world, taskId, request),
    setTaskType: (type, request) => setTaskType(world, type, request),
    taskType: (type) => getTaskType(world, type),
  };
}
