import type { Instance } from "../kernel/instance.ts";
import { EngineError } from "../ports/engine-error.ts";
import { advance } from "./advance.ts";
import {
  getDefinition,
  listDefinitions,
  listVersions,
  readSource,
  switchState,
  viewLatest,
} from "./definitions.ts";
import { deploy, validate } from "./deploy.ts";
import { notFound, serve } from "./door.ts";
import type { Engine } from "./engine.ts";
import { handle, wake } from "./handle.ts";
import { readHistory } from "./history.ts";
import { listInstances } from "./listing.ts";
import { recover } from "./recover.ts";
import { checkVariables } from "./request-rules.ts";
import { start } from "./start.ts";
import { type Image, loadInstance } from "./stored-instance.ts";
import { completeTask, failTask, listTasks } from "./task-calls.ts";
import { viewInstance, viewResult, viewWait } from "./views.ts";
import type { World } from "./world.ts";

/** An engine on this world. It holds nothing but caches: any number may share a store. */
export function createEngine(world: World): Engine {
  const load = async (instanceId: string): Promise<Image> => {
    const image = await loadInstance(world, instanceId);
    if (image === undefined) throw notFound(instanceId);
    return image;
  };
  return {
    handle: (message, invocation) => handle(world, message, invocation),
    wake: (instanceId, invocation) => wake(world, instanceId, invocation),
    advance: (messages, invocation) => advance(world, messages, invocation),
    recover: () => recover(world),

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

    start: async (definitionId, request = {}, key) =>
      viewInstance(world, await start(world, definitionId, request, key)),
    get: async (instanceId) => viewInstance(world, await load(instanceId)),
    list: (filter, page) => listInstances(world, filter, page),
    result: async (instanceId) => {
      const result = viewResult(await load(instanceId));
      if (result === undefined) throw notEnded(instanceId);
      return result;
    },
    waits: async (instanceId) => {
      const { instance } = await load(instanceId);
      return { items: instance.tickets.map((ticket) => viewWait(world, instance, ticket)) };
    },
    history: (instanceId, page) => readHistory(world, instanceId, page),
    cancel: async (instanceId, { reason } = {}, key) => {
      const served = await serve(world, {
        instanceId,
        ...(key !== undefined && { key }),
        body: ["cancel", reason],
        factFor: () => ({ kind: "cancel-requested", ...(reason !== undefined && { reason }) }),
        nameFor: () => undefined,
      });
      return { cancelled: served.kind !== "nothing" };
    },
    resolveIncident: async (instanceId, incidentId, request = {}, key) => {
      checkVariables(request.variables ?? {});
      const served = await serve(world, {
        instanceId,
        ...(key !== undefined && { key }),
        body: ["resolve", incidentId, request],
        factFor: (instance) =>
          hasIncident(instance, incidentId)
            ? { kind: "incident-resolved", ticket: incidentId, ...request }
            : undefined,
        nameFor: () => incidentId,
      });
      if (served.kind === "nothing") throw noIncident(instanceId, incidentId);
      return { resolved: true };
    },

    tasks: (filter, page) => listTasks(world, filter, page),
    completeTask: (taskId, request = {}, key) => completeTask(world, taskId, request, key),
    failTask: (taskId, request, key) => failTask(world, taskId, request, key),
  };
}

const hasIncident = ({ tickets }: Instance, id: string): boolean =>
  tickets.some((ticket) => ticket.on === "incident" && ticket.id === id);

function notEnded(instanceId: string): EngineError {
  return new EngineError("instance/not-ended", {
    happened: "The instance has not ended yet",
    where: `instance ${instanceId}`,
    fix: "Ask again later, or wait for it with waitSeconds.",
    retryable: true,
  });
}

function noIncident(instanceId: string, incidentId: string): EngineError {
  return new EngineError("incident/not-found", {
    happened: "There is no such open incident",
    where: `instance ${instanceId}, incident ${incidentId}`,
    fix: "It was resolved, or went with its element; GET /v1/instances/{id} lists what is open.",
    retryable: false,
  });
}
