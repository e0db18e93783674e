/** Requests to one instance: to show it, to cancel it, to let it go on, to set its variables. */
import type { Variables } from "../../definition/json.ts";
import { isTerminal } from "../../kernel/instance.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { ResultView, WaitView } from "../../shapes/instances.ts";
import type { IdempotencyKey } from "../../shapes/paging.ts";
import { demandNotAwaited } from "../calls/awaited.ts";
import { handleRequest, notFound } from "../drive/instance-request.ts";
import type { Plan } from "../step/plan.ts";
import { defined } from "../storage/defined.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { errorWithOrigins, waitsWithOrigins } from "./origins.ts";
import { viewResult, viewWait } from "./views.ts";

/** The instance of this id; throws where there is none. */
export async function getInstance(world: World, instanceId: string): Promise<Image> {
  const image = await loadInstance(world, instanceId);
  if (image === undefined || image.instance.erased) throw notFound(instanceId);
  return image;
}

/** What came of it; throws while it is live. */
export async function getResult(world: World, instanceId: string): Promise<ResultView> {
  const image = await getInstance(world, instanceId);
  const result = viewResult(image);
  if (result === undefined) throw notEnded(instanceId);
  return errorWithOrigins(world, image, result);
}

/** Why it does not move. */
export async function listWaits(
  world: World,
  instanceId: string,
): Promise<Readonly<{ items: readonly WaitView[] }>> {
  const image = await getInstance(world, instanceId);
  const waits = image.instance.tickets.map((ticket) => viewWait(world, image, ticket));
  return { items: await waitsWithOrigins(world, image, waits) };
}

/** Ends it early; `cancelled` is false where it had ended before. */
export async function cancel(
  world: World,
  instanceId: string,
  { reason }: Readonly<{ reason?: string }> = {},
  key?: IdempotencyKey,
): Promise<{ cancelled: boolean }> {
  const served = await handleRequest(world, {
    instanceId,
    ...defined({ key }),
    body: ["cancel", reason],
    factFor: async (instance) => {
      await demandNotAwaited(world, instance);
      return { kind: "cancel-requested", ...(reason !== undefined && { reason }) };
    },
    nameFor: () => undefined,
  });
  return { cancelled: served.kind !== "nothing" };
}

/** Tries again what an incident holds up. */
export async function resolveIncident(
  world: World,
  instanceId: string,
  incidentId: string,
  request: Readonly<{ variables?: Variables; retries?: number }> = {},
  key?: IdempotencyKey,
): Promise<{ resolved: true }> {
  const served = await handleRequest(world, {
    instanceId,
    ...defined({ key }),
    body: ["resolve", incidentId, request],
    factFor: ({ tickets }) =>
      tickets.some(({ on, id }) => on === "incident" && id === incidentId)
        ? { kind: "incident-resolved", ticket: incidentId, ...request }
        : undefined,
    nameFor: () => incidentId,
  });
  if (served.kind !== "nothing") return { resolved: true };
  const where = `instance ${instanceId}, incident ${incidentId}`;
  throw new EngineError("incident/not-found", { where });
}

/** Sets variables; throws where the instance has ended, or the scope is not open exactly once. */
export async function patchVariables(
  world: World,
  instanceId: string,
  { variables, scope }: Readonly<{ variables: Variables; scope?: string }>,
  key?: IdempotencyKey,
): Promise<{ patched: true }> {
  await handleRequest(world, {
    instanceId,
    ...defined({ key }),
    body: ["patch", scope, variables],
    factFor: (instance, program) => {
      if (isTerminal(instance))
        throw new EngineError("instance/not-live", { where: `instance ${instanceId}` });
      if (program.runner.isFixed) {
        throw new EngineError("instance/variables-fixed", { where: `instance ${instanceId}` });
      }
      if (scope !== undefined) demandOpenOnce({ instance, program }, scope);
      return {
        kind: "variables-patched",
        variables,
        ...(scope !== undefined && scope !== program.definition.id && { scope }),
      };
    },
    nameFor: () => undefined,
    refuse: (plan) => refusalIn(plan, instanceId),
  });
  return { patched: true };
}

/** The process may be named as well, by its id: it is always open. */
function demandOpenOnce({ instance, program }: Image, scope: string): void {
  if (scope === program.definition.id) return;
  const open = program.runner.occurrences(instance, scope);
  if (open === 1) return;
  const where = `instance ${instance.id}, element ${scope}`;
  if (open > 1) {
    throw new EngineError("instance/scope-ambiguous", {
      happened: `The element is open ${open} times, and variables go to one scope`,
      where,
      fix: "Set them in a scope around it, or of the process by leaving the scope out.",
    });
  }
  const isKnown = program.definition.elements.includes(scope);
  throw new EngineError("instance/scope-not-found", {
    happened: isKnown ? "The element is not open now" : "The definition has no such element",
    where,
    fix: "Name one of `activeElements`, or leave the scope out to set variables of the process.",
  });
}

/**
 * What cannot be set would be an incident that keeps the request; the request is refused instead, and
 * nothing is changed. An incident of what moves on by it is not the caller's.
 */
function refusalIn({ fresh }: Plan, instanceId: string): EngineError | undefined {
  const incident = fresh.tickets.find((ticket) => ticket.on === "incident" && ticket.kept);
  if (incident?.on !== "incident") return undefined;
  return new EngineError("request/invalid", {
    happened: `The variables cannot be set: ${incident.message.replace(/\.$/, "")}`,
    where: `instance ${instanceId}`,
    fix: "Nothing was changed.",
    details: [{ path: "variables", message: incident.message }],
  });
}

export const notEnded = (instanceId: string): EngineError =>
  new EngineError("instance/not-ended", { where: `instance ${instanceId}` });
