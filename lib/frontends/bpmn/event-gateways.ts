import type { Awaited, Node } from "../../definition/graph.ts";
import { quoted } from "../../definition/parsed.ts";
import { checkWaits, isNamed, spoken } from "./catchers.ts";
import type { Context } from "./context.ts";
import type { Arrow, Outline, Place } from "./outline.ts";
import { called } from "./source.ts";

/**
 * The waits after an event-based gateway belong to the gateway until one of them wins: each is
 * reached from it alone, has nothing attached, and differs from the others.
 */
export function checkEventGateways(
  outline: Outline,
  nodes: readonly Node[],
  context: Context,
): void {
  const catches = new Map(
    nodes.flatMap((node) => (node.kind === "catch" ? [[node.id, node] as const] : [])),
  );
  const hosts = new Set(nodes.flatMap((node) => (node.kind === "boundary" ? [node.on] : [])));
  for (const gateway of outline.places) {
    if (gateway.kind !== "eventBasedGateway" || !gateway.runs) continue;
    const arrows = outline.arrowsFrom.get(gateway) ?? [];
    if (arrows.length < 2) refuseFew(gateway, arrows.length, context);
    const targets = new Set(arrows.flatMap((arrow) => catchBehind(arrow, gateway, context) ?? []));
    for (const target of targets) {
      const incoming = outline.arrowsTo.get(target)?.length ?? 0;
      if (incoming > 1) refuseShared(target, { gateway, incoming }, context);
      if (hosts.has(target.id)) refuseBoundary(target, gateway, context);
    }
    const behind = [...targets].flatMap((to) => {
      const node = catches.get(to.id);
      return node === undefined ? [] : [{ to, node }];
    });
    for (const { to, node } of behind) {
      if (node.inputs !== undefined) warnInputs(to, gateway, context);
    }
    const awaited = behind.map(({ to, node }) => ({ to, awaits: node.awaits }));
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

/** The event or receive task at the end of a flow; anything else there is refused. */
function catchBehind(
  { element, to }: Arrow,
  gateway: Place,
  { report }: Context,
): Place | undefined {
  // A flow that ends nowhere, in another scope or at an unsupported element has been refused.
  if (to === undefined || !to.runs || to.scope !== gateway.scope) return undefined;
  if (to.kind === "intermediateCatchEvent" || to.kind === "receiveTask") return to;
  return report.refuse({
    code: "bpmn/event-gateway-target",
    at: element,
    message: `${called(element)} leads from event-based gateway ${quoted(gateway.id)} to ${quoted(to.id)}, which waits for no event.`,
    hint: "Let it end at an intermediate catch event with a timer, a message or a signal, or at a receive task.",
  });
}

function refuseShared(
  { element }: Place,
  { gateway, incoming }: Readonly<{ gateway: Place; incoming: number }>,
  { report }: Context,
): void {
  report.refuse({
    code: "bpmn/event-gateway-target-shared",
    at: element,
    message: `${called(element)} is behind event-based gateway ${quoted(gateway.id)} and has ${incoming} incoming flows.`,
    hint: "Lead the other flows to the gateway, or to an event of their own.",
  });
}

function refuseBoundary({ element }: Place, gateway: Place, { report }: Context): void {
  report.refuse({
    code: "bpmn/event-gateway-target-boundary",
    at: element,
    message: `${called(element)} is behind event-based gateway ${quoted(gateway.id)} and has a boundary event, which has no time to fire: the message is there when the task is entered.`,
    hint: "Let the boundary event be one more event behind the gateway.",
  });
}

/** The gateway computes all names and keys before any of the events is entered. */
function warnInputs({ element }: Place, gateway: Place, { report }: Context): void {
  report.warn({
    code: "bpmn/ignored-extension",
    at: element,
    message: `${called(element)}: its inputs have no effect behind event-based gateway ${quoted(gateway.id)}.`,
    hint: "Remove them; names and keys are computed from the variables around the gateway.",
  });
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
    if (other !== undefined) {
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
