/** What readers see of definitions and instances. */
import type { Definition, StartEvent } from "../../definition/definition.ts";
import { formatInstant, type Instant } from "../../definition/time/instant.ts";
import { isOfCalls, itemsOf, openIn } from "../../kernel/batch.ts";
import type { BatchTicket, IncidentTicket, Instance, Ticket } from "../../kernel/instance.ts";
import type { DefinitionView, StartEventView } from "../../shapes/definitions.ts";
import type {
  IncidentView,
  InstanceView,
  ResultView,
  Status,
  WaitView,
} from "../../shapes/instances.ts";
import { childIdOf } from "../rows/child.ts";
import { batchRunsHere, runsHere } from "../rows/open-tickets.ts";
import { callsFor, viewPerson } from "../rows/view-task.ts";
import { longRunWarning } from "../step/long-run.ts";
import { defined } from "../storage/defined.ts";
import { taskIdOf } from "../storage/names.ts";
import type { Image } from "../storage/stored-instance.ts";
import { sound } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/** What a definition says of itself. */
export function viewProcess(
  definition: Definition,
): Omit<DefinitionView, "enabled" | "deployedAt" | "live"> {
  const { id, version, hash, notation, name } = definition;
  const startEvents = definition.startEvents.map(viewStart);
  return { id, version, hash, notation, ...defined({ name }), startEvents };
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
  const { variables, input, tokens } = program.runner.view(instance);
  const { id, definition, terminationKind, businessKey, tags, parent, endedAt } = instance;
  const warning = longRunWarning(instance);
  return {
    instanceId: id,
    definition: { id: definition.id, version: definition.version },
    status: statusOf(world, instance),
    ...defined({ terminationKind, businessKey, tags }),
    ...(parent && { parent: { instanceId: parent.instanceId, awaited: !parent.detached } }),
    variables,
    ...defined({ input }),
    activeElements: tokens.map(({ element }) => element),
    tokens,
    completedElements: instance.completed,
    waits: instance.tickets.map((ticket) => viewWait(world, { instance, program }, ticket)),
    incidents: instance.tickets.filter(isIncident).map(viewIncident),
    ...(warning !== undefined && { warnings: [warning] }),
    startedAt: formatInstant(instance.startedAt),
    updatedAt: formatInstant(instance.lastNow),
    ...(endedAt !== undefined && { endedAt: formatInstant(endedAt) }),
    ...(instance.status === "succeeded" && { result: program.runner.result(instance) }),
    ...viewError(instance),
  };
}

export const isIncident = (ticket: Ticket): ticket is IncidentTicket => ticket.on === "incident";

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
export function viewWait(world: World, image: Image, ticket: Ticket): WaitView {
  const { instance, program } = image;
  const { element, since } = ticket;
  const common = { element, since: formatInstant(since) };
  switch (ticket.on) {
    case "task": {
      const { type: taskType, notBefore: dueAt, person } = ticket;
      const taskId = taskIdOf(instance.id, ticket.id);
      const isCode = program.definition.body.runner === "code";
      const input = person || isCode ? program.runner.taskInput(instance, ticket) : {};
      return {
        ...{ kind: "task", ...common, taskType, taskId, runsHere: runsHere(world, ticket) },
        ...(dueAt !== undefined && { dueAt: formatInstant(dueAt) }),
        ...viewPerson(ticket),
        ...callsFor(ticket, taskId, input),
      };
    }
    case "family":
      return viewBatch(world, instance, ticket, common);
    case "timer": {
      const dueAt = formatInstant(ticket.dueAt);
      return { kind: "timer", ...common, dueAt, ...wakeByClock(world, ticket.dueAt) };
    }
    case "signal": {
      const { name } = ticket;
      return { kind: "signal", ...common, name, wakeWith: { call: "signal", body: { name } } };
    }
    case "message": {
      const { name, key: correlationKey } = ticket;
      const body = { name, ...(correlationKey !== "" && { correlationKey }) };
      const wakeWith = { call: "message", body } as const;
      return { kind: "message", ...common, name, correlationKey, wakeWith };
    }
    case "event": {
      const { name } = ticket;
      const body = { name, target: instance.id };
      return { kind: "event", ...common, name, wakeWith: { call: "event", body } };
    }
    case "child": {
      const childInstanceId = childIdOf(world, instance, ticket.id);
      return { kind: "child", ...common, process: ticket.process, childInstanceId };
    }
    case "continuation":
      return { kind: "continuation", ...common };
    case "incident": {
      const ids = { instanceId: instance.id, incidentId: ticket.id };
      const wakeWith = { call: "resolveIncident", ...ids, body: {} } as const;
      return { kind: "incident", ...common, incidentId: ticket.id, wakeWith };
    }
  }
}

function viewBatch(
  world: World,
  instance: Instance,
  batch: BatchTicket,
  common: Readonly<{ element: string; since: string }>,
): WaitView {
  const open = openIn(batch);
  const members = { size: batch.size, open };
  if (isOfCalls(batch)) {
    const [first] = itemsOf(batch);
    const childInstanceId = first && childIdOf(world, instance, first.id);
    const { process } = batch.call;
    return { kind: "child", ...common, process, ...defined({ childInstanceId }), members };
  }
  const wakeWith = { call: "tasks", instanceId: instance.id } as const;
  return {
    ...{ kind: "task", ...common, taskType: batch.type, members },
    runsHere: batchRunsHere(world, batch),
    ...(open > 0 && { wakeWith }),
  };
}

/** Only a virtual clock can be moved to a timer. */
function wakeByClock(world: World, dueAt: Instant): Pick<WaitView, "wakeWith"> {
  if (!world.settings.virtualClock) return {};
  const seconds = Math.max(0, dueAt - world.clock.now()) / 1_000;
  return { wakeWith: { call: "advanceClock", body: { by: `PT${seconds}S` } } };
}

export function viewIncident(ticket: IncidentTicket): IncidentView {
  const { id: incidentId, type, element, message, name, stack, since } = ticket;
  const thrown = defined({ name, stack });
  return { incidentId, type, element, message, ...thrown, raisedAt: formatInstant(since) };
}
