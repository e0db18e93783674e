import type { Awaited, Node } from "../../definition/graph.ts";
import { quoted } from "../../definition/parsed.ts";
import { checkWaits, isNamed, spoken } from "./catchers.ts";
import type { Context } from "./context.ts";
import type { Arrow, Outline, Place } from "./outline.ts";
import { called } from "./source.ts";

/**
 * The waits behind an event-based gateway are the gateway's own until one of them wins: each is
 * reached from it alone, has nothing attached, and is told apart from the others.
 */
export function checkEventGateways(
  outline: Outline,
  nodes: readonly Node[],
  context: Context,
): void {
  const waits = new Map(
    nodes.flatMap((node) => (node.kind === "catch" ? [[node.id, node.awaits] as const] : [])),
  );
  for (const gateway of outline.places) {
    if (gateway.kind !== "eventBasedGateway" || !gateway.runs) continue;
    const arrows = outline.arrowsFrom.get(gateway) ?? [];
    if (arrows.length < 2) refuseFew(gateway, arrows.length, context);
    for (const arrow of arrows) checkTarget(arrow, gateway, outline, context);
    const awaited = arrows.flatMap(({ to }) => {
      const awaits = to && waits.get(to.id);
      return to && awaits ? [{ to, awaits }] : [];
    });
    checkDistinct(gateway, awaited, context);
    checkWaits(gateway, awaited.filter(({ awaits }) => isNamed(awaits)).length, context);
  }
}

function refuseFew({ element }: Place, flows: number, { report }: Context): void {
  report.refuse({
    code: "bpmn/event-gateway-flows",
    at: element,
    message: `${called(element)} has ${flows} outgoing flows, so that there is nothing to choose from.`,
    hint: "Give it two or more, each to a catch event or a receive task, or leave the gateway out.",
  });
}

function checkTarget(
  { element, to }: Arrow,
  gateway: Place,
  { places, arrowsTo }: Outline,
  { report }: Context,
): void {
  // One that leads nowhere, into another scope or to something that does not run has been refused.
  if (to === undefined || !to.runs || to.scope !== gateway.scope) return;
  if (to.kind !== "intermediateCatchEvent" && to.kind !== "receiveTask") {
    report.refuse({
      code: "bpmn/event-gateway-target",
      at: element,
      message: `${called(element)} leads from event-based gateway ${quoted(gateway.id)} to ${quoted(to.id)}, which waits for no event.`,
      hint: "Let it end at an intermediate catch event with a timer, a message or a signal, or at a receive task.",
    });
    return;
  }
  const arriving = arrowsTo.get(to) ?? [];
  // Of several flows the first is as good as any; the others are what is wrong.
  if (arriving.length > 1 && arriving.find(({ from }) => from === gateway)?.element === element) {
    report.refuse({
      code: "bpmn/event-gateway-target-shared",
      at: to.element,
      message: `${called(to.element)} is behind event-based gateway ${quoted(gateway.id)} and has ${arriving.length} incoming flows.`,
      hint: "Lead the other flows to the gateway, or to an event of their own.",
    });
  }
  const isOnIt = ({ kind, element: event, scope }: Place) =>
    kind === "boundaryEvent" &&
    scope === to.scope &&
    event.attributes.get("attachedToRef") === to.id;
  if (places.some(isOnIt)) {
    report.refuse({
      code: "bpmn/event-gateway-target-boundary",
      at: to.element,
      message: `${called(to.element)} is behind event-based gateway ${quoted(gateway.id)} and has a boundary event, but it has ended when it is entered.`,
      hint: "Let the boundary event be one more event behind the gateway.",
    });
  }
}

/** The same message may be awaited with two keys: they are two mailboxes. */
function checkDistinct(
  gateway: Place,
  awaited: readonly Readonly<{ to: Place; awaits: Awaited }>[],
  { report }: Context,
): void {
  const taken = new Map<string, Place>();
  for (const { to, awaits } of awaited) {
    if (awaits.on === "timer") continue;
    const key = JSON.stringify(awaits);
    const other = taken.get(key);
    // Two flows to one event are refused for that.
    if (other !== undefined && other !== to) {
      report.refuse({
        code: "bpmn/duplicate-gateway-name",
        at: to.element,
        message: `${called(to.element)} waits for ${spoken(awaits)} behind event-based gateway ${quoted(gateway.id)}, and so does ${quoted(other.id)}.`,
        hint: "Remove one of the two, or let it wait for something else.",
      });
    }
    taken.set(key, to);
  }
}
