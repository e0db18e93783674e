/** What readers see of definitions and instances. */
import type { Definition, StartEvent } from "../../definition/definition.ts";
import { formatInstant, type Instant } from "../../definition/time/instant.ts";
import { isOfCalls, itemsOf, openIn } from "../../kernel/batch.ts";
import type { IncidentTicket, Instance, Ticket } from "../../kernel/instance.ts";
import { childIdOf } from "../rows/child.ts";
import { batchRunsHere, runsHere } from "../rows/open-tickets.ts";
import { callsFor, viewPerson } from "../rows/view-task.ts";
import type { DefinitionView, StartEventView } from "../shapes/definitions.ts";
import type {
  IncidentView,
  InstanceView,
  ResultView,
  Status,
  WaitView,
} from "../shapes/instances.ts";
import { taskIdOf } from "../storage/names.ts";
import type { Image } from "../storage/stored-instance.ts";
import { sound } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/** What a definition says of itself, whoever asks. */
export function viewProcess({
  id,
  version,
  hash,
  notation,
  name,
  startEvents,
}: Definition): Omit<DefinitionView, "enabled" | "deployedAt" | "live"> {
  return {
    id,
    version,
    hash,
    notation,
    ...(name !== undefined && { name }),
    startEvents: startEvents.map(viewStart),
  };
}

function viewStart(event: StartEvent): StartEventView {
  if (event.kind !== "timer") return event;
  const { element, kind, timer } = event;
  const { as, value, zone } = timer;
  const text = value.kind === "feel" ? `=${value.text}` : String(value.value);
  return { element, kind, timer: { as, text, ...(zone !== undefined && { zone }) } };
}

/** What was read may still make no sense to its runner: then it is damaged. */
export const viewInstance = (world: World, image: Image): InstanceView =>
  sound(`instance ${image.instance.id}`, () => viewState(world, image));

function viewState(world: World, { instance, program }: Image): InstanceView {
  const { variables, tokens } = program.runner.view(instance);
  const { id, definition, terminationKind, businessKey, tags, parent, endedAt } = instance;
  return {
    instanceId: id,
    definition: { id: definition.id, version: definition.version },
    status: statusOf(world, instance),
    ...(terminationKind && { terminationKind }),
    ...(businessKey !== undefined && { businessKey }),
    ...(tags && { tags }),
    ...(parent && { parent: { instanceId: parent.instanceId, awaited: !parent.detached } }),
    variables,
    activeElements: tokens.map(({ element }) => element),
    tokens,
    completedElements: instance.completed,
    waits: instance.tickets.map((ticket) => viewWait(world, { instance, program }, ticket)),
    incidents: instance.tickets.flatMap((ticket) =>
      ticket.on === "incident" ? [viewIncident(ticket)] : [],
    ),
    startedAt: formatInstant(instance.startedAt),
    updatedAt: formatInstant(instance.lastNow),
    ...(endedAt !== undefined && { endedAt: formatInstant(endedAt) }),
    ...(instance.status === "succeeded" && { result: program.runner.result(instance) }),
    ...viewError(instance),
  };
}

/** What was thrown along with an error is for the caller's boundary event. */
function viewError({ error }: Instance): Pick<ResultView, "error"> {
  if (error === undefined) return {};
  const { variables: _, ...shown } = error;
  return { error: shown };
}

/** Live instances show whether the engine works on them or waits. */
export function statusOf(world: World, { status, tickets }: Instance): Status {
  if (status !== "live") return status;
  const isAtWork = (ticket: Ticket) => runsHere(world, ticket) || batchRunsHere(world, ticket);
  return tickets.some(isAtWork) ? "running" : "suspended";
}

/** Undefined while it is live. */
export function viewResult({ instance, program }: Image): ResultView | undefined {
  const { status, terminationKind } = instance;
  if (status === "live" || terminationKind === undefined) return undefined;
  return {
    status,
    terminationKind,
    ...(status === "succeeded" && { result: program.runner.result(instance) }),
    variables: program.runner.view(instance).variables,
    ...viewError(instance),
  };
}

/** Why an instance does not move, and the call that would move it. */
export function viewWait(world: World, { instance, program }: Image, ticket: Ticket): WaitView {
  const common = { element: ticket.element, since: formatInstant(ticket.since) };
  const path = `/v1/instances/${encodeURIComponent(instance.id)}`;
  switch (ticket.on) {
    case "task":
      return {
        kind: "task",
        ...common,
        taskType: ticket.type,
        taskId: taskIdOf(instance.id, ticket.id),
        runsHere: runsHere(world, ticket),
        ...(ticket.notBefore !== undefined && { dueAt: formatInstant(ticket.notBefore) }),
        ...viewPerson(ticket),
        ...callsFor(
          ticket,
          `/v1/tasks/${encodeURIComponent(taskIdOf(instance.id, ticket.id))}`,
          ticket.person === undefined ? {} : program.runner.taskInput(instance, ticket),
        ),
      };
    case "family": {
      const open = openIn(ticket);
      if (isOfCalls(ticket)) {
        const [first] = itemsOf(ticket);
        return {
          kind: "child",
          ...common,
          process: ticket.call.process,
          ...(first && { childInstanceId: childIdOf(world, instance, first.id) }),
          members: { size: ticket.size, open },
        };
      }
      return {
        kind: "task",
        ...common,
        taskType: ticket.type,
        members: { size: ticket.size, open },
        runsHere: batchRunsHere(world, ticket),
        ...wakeByTasks(instance, open),
      };
    }
    case "timer":
      return {
        kind: "timer",
        ...common,
        dueAt: formatInstant(ticket.dueAt),
        ...wakeByClock(world, ticket.dueAt),
      };
    case "signal": {
      const { name } = ticket;
      const wakeWith = { method: "POST", path: "/v1/signals", body: { name } };
      return { kind: "signal", ...common, name, wakeWith };
    }
    case "message": {
      const { name, key: correlationKey } = ticket;
      const body = { name, ...(correlationKey !== "" && { correlationKey }) };
      const wakeWith = { method: "POST", path: "/v1/messages", body };
      return { kind: "message", ...common, name, correlationKey, wakeWith };
    }
    case "event": {
      const { name } = ticket;
      const body = { name, target: instance.id };
      return {
        kind: "event",
        ...common,
        name,
        wakeWith: { method: "POST", path: "/v1/events", body },
      };
    }
    case "child":
      return {
        kind: "child",
        ...common,
        process: ticket.process,
        childInstanceId: childIdOf(world, instance, ticket.id),
      };
    case "continuation":
      return { kind: "continuation", ...common };
    case "incident":
      return {
        kind: "incident",
        ...common,
        incidentId: ticket.id,
        wakeWith: { method: "POST", path: `${path}/incidents/${ticket.id}/resolve`, body: {} },
      };
  }
}

/** Each of many tasks is completed by itself: the call that lists them leads on. */
function wakeByTasks({ id }: Instance, open: number): Pick<WaitView, "wakeWith"> {
  if (open === 0) return {};
  return { wakeWith: { method: "GET", path: `/v1/tasks?instanceId=${encodeURIComponent(id)}` } };
}

/** Only a virtual clock can be told to reach a timer. */
function wakeByClock(world: World, dueAt: Instant): Pick<WaitView, "wakeWith"> {
  if (!world.settings.virtualClock) return {};
  const seconds = Math.max(0, dueAt - world.clock.now()) / 1_000;
  return {
    wakeWith: { method: "POST", path: "/v1/clock/advance", body: { by: `PT${seconds}S` } },
  };
}

export function viewIncident(ticket: IncidentTicket): IncidentView {
  const { id: incidentId, type, element, message, name, stack, since } = ticket;
  return {
    incidentId,
    type,
    element,
    message,
    ...(name !== undefined && { name }),
    ...(stack !== undefined && { stack }),
    raisedAt: formatInstant(since),
  };
}
