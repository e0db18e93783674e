/** What callers may ask of one instance: to be shown, to be cancelled, to go on. */
import type { Variables } from "../../definition/json.ts";
import type { Instance } from "../../kernel/instance.ts";
import { EngineError } from "../../ports/engine-error.ts";
import { demandNotAwaited } from "../calls/awaited.ts";
import { handleRequest, notFound } from "../drive/instance-request.ts";
import type { ResultView, WaitView } from "../shapes/instances.ts";
import type { IdempotencyKey } from "../shapes/paging.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { viewResult, viewWait } from "./views.ts";

/** The instance of this id; throws where there is none. */
export async function getInstance(world: World, instanceId: string): Promise<Image> {
  const image = await loadInstance(world, instanceId);
  if (image === undefined || image.instance.erased) throw notFound(instanceId);
  return image;
}

/** What came of it; throws while it is live. */
export async function getResult(world: World, instanceId: string): Promise<ResultView> {
  const result = viewResult(await getInstance(world, instanceId));
  if (result === undefined) throw notEnded(instanceId);
  return result;
}

/** Why it does not move. */
export async function listWaits(
  world: World,
  instanceId: string,
): Promise<Readonly<{ items: readonly WaitView[] }>> {
  const image = await getInstance(world, instanceId);
  return { items: image.instance.tickets.map((ticket) => viewWait(world, image, ticket)) };
}

/** Ends it early; `cancelled` is false where it had ended before. */
export async function cancel(
  world: World,
  instanceId: string,
  { reason }: Readonly<{ reason?: string }>,
  key?: IdempotencyKey,
): Promise<{ cancelled: boolean }> {
  const served = await handleRequest(world, {
    instanceId,
    ...(key !== undefined && { key }),
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
  request: Readonly<{ variables?: Variables; retries?: number }>,
  key?: IdempotencyKey,
): Promise<{ resolved: true }> {
  const served = await handleRequest(world, {
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
}

const hasIncident = ({ tickets }: Instance, id: string): boolean =>
  tickets.some((ticket) => ticket.on === "incident" && ticket.id === id);

export function notEnded(instanceId: string): EngineError {
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
