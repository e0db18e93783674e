import type { Behaviour, Node } from "../../definition/graph.ts";
import { MAX_LABEL_LENGTH } from "../../definition/limits.ts";
import { quoted } from "../../definition/parsed.ts";
import { callActivity } from "./call-activities.ts";
import { checkCatchers } from "./catchers.ts";
import type { Context } from "./context.ts";
import { checkEventGateways } from "./event-gateways.ts";
import {
  boundaryEvent,
  catchEvent,
  endEvent,
  receiveTask,
  startEvent,
  throwEvent,
} from "./events.ts";
import { mappingsOf } from "./mappings.ts";
import { loopOf } from "./multi-instance.ts";
import { fits } from "./named.ts";
import type { Outline, Place } from "./outline.ts";
import { called, nameOf } from "./source.ts";
import { jobTask, scriptTask } from "./tasks.ts";
import { formsOf, userTask } from "./user-tasks.ts";

/** The nodes of a process in document order; those that were refused are missing. */
export function nodesOf(laidOut: Outline, context: Context): readonly Node[] {
  const { places, arrowsFrom } = laidOut;
  const byId = new Map(places.map((place) => [place.id, place]));
  const nodes = places.flatMap((place) => {
    if (!place.runs) return [];
    const host = place.kind === "boundaryEvent" ? hostOf(place, byId, context) : undefined;
    const defaults = new Set(arrowsFrom.get(place)?.map(({ id }) => id));
    const behaviour = behaviourOf(place, { on: host?.id, defaults }, context);
    // Gateways have no scope of their own for the targets of mappings.
    const mappings = place.kind.endsWith("Gateway") ? {} : mappingsOf(place.element, context);
    const loop = loopOf(place, context);
    if (behaviour === undefined || loop === undefined) return [];
    const scope = place.scope && { scope: place.scope.id };
    const named = { id: place.id, ...nameOf(place.element) };
    fits({ at: place.element, text: named.name ?? "", as: "name" }, context, MAX_LABEL_LENGTH);
    return [{ ...named, ...scope, ...mappings, ...loop, ...behaviour }];
  });
  checkCatchers(nodes, byId, context);
  checkEventGateways(laidOut, nodes, context);
  return nodes;
}

type Surroundings = Readonly<{
  /** Of a boundary event: the activity that it is attached to. */
  on: string | undefined;
  /** The ids of the flows that may be the default. */
  defaults: ReadonlySet<string>;
}>;

function behaviourOf(
  { element, kind, scope }: Place,
  { on, defaults }: Surroundings,
  context: Context,
): Behaviour | undefined {
  switch (kind) {
    case "process":
      return { kind: "process", ...formsOf(element, context) };
    case "startEvent":
      return startEvent(element, scope?.kind, context);
    case "endEvent":
      return endEvent(element, context);
    case "intermediateCatchEvent":
      return catchEvent(element, context);
    case "intermediateThrowEvent":
      return throwEvent(element, context);
    case "receiveTask":
      return receiveTask(element, context);
    case "boundaryEvent":
      return boundaryEvent(element, on, context);
    case "serviceTask":
    case "sendTask":
    case "businessRuleTask":
      return jobTask(element, context);
    case "scriptTask":
      return scriptTask(element, context);
    case "userTask":
      return userTask(element, context);
    case "callActivity":
      return callActivity(element, context);
    case "exclusiveGateway":
      return exclusiveGateway(element, defaults, context);
    case "parallelGateway":
      return { kind: "parallel" };
    case "eventBasedGateway":
      return { kind: "event-gateway" };
    case "subProcess":
      return { kind: "scope" };
    default:
      return { kind: "pass" };
  }
}

function exclusiveGateway(
  element: Place["element"],
  defaults: ReadonlySet<string>,
  { find, report }: Context,
): Behaviour | undefined {
  const otherwise = element.attributes.get("default");
  if (otherwise === undefined) return { kind: "exclusive" };
  if (defaults.has(otherwise)) return { kind: "exclusive", otherwise };
  const hint = "Make default the id of a sequence flow that leaves this gateway, or remove it.";
  const isFlow = find(otherwise)?.name === "bpmn:sequenceFlow";
  return report.refuse({
    code: isFlow ? "bpmn/default-flow-elsewhere" : "bpmn/unresolved-reference",
    at: element,
    message: `${called(element)}: the default flow ${quoted(otherwise)} ${isFlow ? "starts elsewhere" : "does not exist"}.`,
    hint,
  });
}

/** The activity, or the catch event, that a boundary event is attached to, in the same scope. */
function hostOf(
  { element, scope }: Place,
  byId: ReadonlyMap<string, Place>,
  { report }: Context,
): Place | undefined {
  const reference = element.attributes.get("attachedToRef");
  const host = reference === undefined ? undefined : byId.get(reference);
  if (host !== undefined && host.scope === scope && isActivity(host.kind)) return host;
  if (host !== undefined && host.scope === scope && host.kind === "intermediateCatchEvent") {
    report.warn({
      code: "bpmn/boundary-on-event",
      at: element,
      message: `${called(element)} is attached to ${quoted(host.id)}, which is an event.`,
      hint: "It runs here, but BPMN attaches boundary events to activities only, and other engines refuse it.",
    });
    return host;
  }
  const hint = "Set attachedToRef to the id of a task or sub-process beside it.";
  if (reference !== undefined && host === undefined) {
    return report.refuse({
      code: "bpmn/unresolved-reference",
      at: element,
      message: `${called(element)}: attachedToRef names ${quoted(reference)}, which does not exist in this process.`,
      hint,
    });
  }
  return report.refuse({
    code: "bpmn/boundary-not-attached",
    at: element,
    message:
      reference === undefined
        ? `${called(element)} is not attached to an activity.`
        : `${called(element)} is attached to ${quoted(reference)}, which is no activity of the same scope.`,
    hint,
  });
}

function isActivity(kind: string): boolean {
  return /([tT]ask|[sS]ubProcess|transaction|callActivity)$/.test(kind);
}
