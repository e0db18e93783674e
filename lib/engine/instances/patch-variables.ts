/** Setting variables of a live instance from outside. What waits for them moves on by it. */
import type { Variables } from "../../definition/json.ts";
import { isTerminal } from "../../kernel/instance.ts";
import { EngineError } from "../../ports/engine-error.ts";
import { handleRequest } from "../drive/instance-request.ts";
import type { IdempotencyKey } from "../shapes/paging.ts";
import type { Plan } from "../step/plan.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";

/** Sets them; throws where the instance has ended, or the scope is not open exactly once. */
export async function patchVariables(
  world: World,
  instanceId: string,
  { variables, scope }: Readonly<{ variables: Variables; scope?: string }>,
  key?: IdempotencyKey,
): Promise<{ patched: true }> {
  await handleRequest(world, {
    instanceId,
    ...(key !== undefined && { key }),
    body: ["patch", scope, variables],
    factFor: (instance, program) => {
      if (isTerminal(instance)) throw notLive(instanceId);
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
  const isKnown = program.definition.elements.includes(scope);
  throw open === 0 ? notOpen(where, isKnown) : ambiguous(where, open);
}

/**
 * What could not be set would be an incident that keeps the request; a caller is told instead, and
 * nothing is changed. An incident of what has moved on by it is none of the caller's.
 */
function refusalIn({ fresh }: Plan, instanceId: string): EngineError | undefined {
  const incident = fresh.tickets.find((ticket) => ticket.on === "incident" && ticket.kept);
  if (incident?.on !== "incident") return undefined;
  return new EngineError("request/invalid", {
    happened: `The variables cannot be set: ${incident.message.replace(/\.$/, "")}`,
    where: `instance ${instanceId}`,
    fix: "Nothing was changed.",
    retryable: false,
    details: [{ path: "variables", message: incident.message }],
  });
}

const notLive = (instanceId: string): EngineError =>
  new EngineError("instance/not-live", {
    happened: "The instance has ended, and nothing changes it any more",
    where: `instance ${instanceId}`,
    fix: "Start another one with the variables that it should have.",
    retryable: false,
  });

function notOpen(where: string, isKnown: boolean): EngineError {
  return new EngineError("instance/scope-not-found", {
    happened: isKnown ? "The element is not open now" : "The definition has no such element",
    where,
    fix: "Name one of `activeElements`, or leave the scope out to set variables of the process.",
    retryable: false,
  });
}

const ambiguous = (where: string, open: number): EngineError =>
  new EngineError("instance/scope-ambiguous", {
    happened: `The element is open ${open} times, and variables go to one scope`,
    where,
    fix: "Set them in a scope around it, or of the process by leaving the scope out.",
    retryable: false,
  });
