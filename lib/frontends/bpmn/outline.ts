import { quoted } from "../../definition/parsed.ts";
import type { Context } from "./context.ts";
import { requireId } from "./ids.ts";
import { bpmnName, called, idOf } from "./source.ts";
import { refusedAsWhole, refuseUnknown } from "./unsupported.ts";
import { INERT_ANYWHERE, INERT_IN_SCOPE, INSTEAD, LOOP_MARKER, SUPPORTED } from "./vocabulary.ts";
import type { XmlElement } from "./xml.ts";

/** A process or one of its flow elements, with the scope that holds it. */
export type Place = Readonly<{
  element: XmlElement;
  id: string;
  /** The BPMN name of its kind, such as `serviceTask`. */
  kind: string;
  scope?: Place;
  /** False for an element that was refused as a whole: its own rules are not applied. */
  runs: boolean;
}>;

/** A sequence flow; an end is absent if it is missing, which was refused. */
export type Arrow = Readonly<{ element: XmlElement; id: string; from?: Place; to?: Place }>;

/** One process laid out flat, all in document order, the process itself first. */
export type Outline = Readonly<{
  places: readonly [Place, ...Place[]];
  arrows: readonly Arrow[];
  /** The ids of elements and flows, in document order together. */
  ids: readonly string[];
  arrowsFrom: ReadonlyMap<Place, readonly Arrow[]>;
  arrowsTo: ReadonlyMap<Place, readonly Arrow[]>;
}>;

/** Lays a process out; the content of a scope that does not run is left out with it. */
export function outline(process: XmlElement, context: Context): Outline {
  const root: Place = { element: process, id: idOf(process), kind: "process", runs: true };
  const places: [Place, ...Place[]] = [root];
  const flows: XmlElement[] = [];
  const ids = [root.id];
  requireId(process, context.report);

  const visit = (scope: Place): void => {
    for (const element of scope.element.children) {
      const kind = bpmnName(element);
      if (kind === undefined || INERT_ANYWHERE.has(kind) || INERT_IN_SCOPE.has(kind)) continue;
      // Read with its element.
      if (kind === LOOP_MARKER) continue;
      if (kind === "sequenceFlow") {
        requireId(element, context.report);
        flows.push(element);
        ids.push(idOf(element));
      } else if (SUPPORTED.has(kind) || INSTEAD.has(kind)) {
        requireId(element, context.report);
        const runs = !refusedAsWhole(element, scope.kind, context.report);
        const place: Place = { element, id: idOf(element), kind, scope, runs };
        places.push(place);
        ids.push(place.id);
        if (kind === "subProcess" && runs) visit(place);
      } else {
        refuseUnknown(element, scope.element, context.report);
      }
    }
  };
  visit(root);

  const byId = new Map(places.slice(1).map((place) => [place.id, place]));
  const arrows = flows.map((flow) => arrow(flow, byId, context));
  return {
    places,
    arrows,
    ids,
    arrowsFrom: Map.groupBy(arrows.filter(hasFrom), ({ from }) => from),
    arrowsTo: Map.groupBy(arrows.filter(hasTo), ({ to }) => to),
  };
}

/** Connects a flow to its ends; only the flow itself names them. */
function arrow(element: XmlElement, byId: ReadonlyMap<string, Place>, context: Context): Arrow {
  const end = (attribute: "sourceRef" | "targetRef"): Place | undefined => {
    const reference = element.attributes.get(attribute);
    const place = reference === undefined ? undefined : byId.get(reference);
    if (place !== undefined) return place;
    const [noun, verb] = attribute === "sourceRef" ? ["source", "starts"] : ["target", "ends"];
    return context.report.refuse({
      code: "bpmn/dangling-flow",
      at: element,
      message:
        reference === undefined
          ? `${called(element)} has no ${noun}.`
          : `${called(element)} ${verb} at ${quoted(reference)}, which is no flow element of this process.`,
      hint: `Connect the flow, or remove it: ${attribute} is the id of an event, activity or gateway.`,
    });
  };
  const from = end("sourceRef");
  const to = end("targetRef");
  return { element, id: idOf(element), ...(from && { from }), ...(to && { to }) };
}

function hasFrom(arrow: Arrow): arrow is Arrow & Readonly<{ from: Place }> {
  return arrow.from !== undefined;
}

function hasTo(arrow: Arrow): arrow is Arrow & Readonly<{ to: Place }> {
  return arrow.to !== undefined;
}
