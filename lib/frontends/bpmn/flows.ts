import type { Flow } from "../../definition/graph.ts";
import { quoted } from "../../definition/parsed.ts";
import { type Context, computed } from "./context.ts";
import type { Arrow, Outline, Place } from "./outline.ts";
import { bpmnName, called, childrenOf } from "./source.ts";
import { refuseRepeated, refuseUnknown } from "./unsupported.ts";
import { INERT_ANYWHERE } from "./vocabulary.ts";
import type { XmlElement } from "./xml.ts";

/** The flows of a process in document order; those that were refused are missing. */
export function flowsOf({ arrows, arrowsFrom }: Outline, context: Context): readonly Flow[] {
  return arrows.flatMap((arrow) => {
    const { element, id, from, to } = arrow;
    checkChildren(element, context);
    const condition = conditionOf(element, context);
    if (from === undefined || to === undefined) return [];
    checkEnds(element, from, to, context);
    checkCondition(arrow, from, arrowsFrom.get(from)?.length ?? 0, context);
    const flow = { id, from: from.id, to: to.id };
    // The default flow is never evaluated, so a condition on it would be misleading.
    return [condition === undefined || isDefault(id, from) ? flow : { ...flow, condition }];
  });
}

function checkChildren(element: XmlElement, { report }: Context): void {
  const [condition, ...others] = childrenOf(element, "bpmn:conditionExpression");
  if (condition !== undefined && others.length > 0) refuseRepeated(condition, element, report);
  for (const child of element.children) {
    const name = bpmnName(child);
    if (name === undefined || name === "conditionExpression" || INERT_ANYWHERE.has(name)) continue;
    refuseUnknown(child, element, report);
  }
}

function conditionOf(element: XmlElement, context: Context) {
  const [condition] = childrenOf(element, "bpmn:conditionExpression");
  if (condition === undefined) return undefined;
  const { text } = condition;
  if (text.startsWith("=")) return computed({ at: element, text, as: "condition" }, context);
  return context.report.refuse({
    code: "bpmn/condition-not-feel",
    at: element,
    message: `${called(element)}: the condition ${quoted(text)} is not a FEEL expression.`,
    hint: "Begin it with an equals sign, for example =total > 100.",
  });
}

function checkEnds(element: XmlElement, from: Place, to: Place, { report }: Context): void {
  if (from.scope !== to.scope) {
    report.refuse({
      code: "bpmn/flow-across-scopes",
      at: element,
      message: `${called(element)} leads from ${quoted(from.id)} to ${quoted(to.id)} across the border of a sub-process.`,
      hint: "Let it end at the sub-process itself, or begin there.",
    });
  }
  if (to.kind === "startEvent") {
    report.refuse({
      code: "bpmn/start-with-incoming",
      at: to.element,
      message: `${called(to.element)} is reached by flow ${quoted(element.attributes.get("id") ?? "")}, but nothing leads to a start.`,
      hint: "Let the flow end at the element after the start event.",
    });
  }
  if (to.kind === "boundaryEvent") {
    report.refuse({
      code: "bpmn/boundary-with-incoming",
      at: to.element,
      message: `${called(to.element)} is reached by flow ${quoted(element.attributes.get("id") ?? "")}, but only its activity triggers it.`,
      hint: "Let the flow end at the activity, or at the element after the boundary event.",
    });
  }
  if (from.kind === "endEvent") {
    report.refuse({
      code: "bpmn/end-with-outgoing",
      at: from.element,
      message: `${called(from.element)} has an outgoing flow.`,
      hint: "Remove the flow, or make the event an intermediate throw event.",
    });
  }
}

function checkCondition(
  { element, id }: Arrow,
  from: Place,
  siblings: number,
  { report }: Context,
): void {
  // The flows of an unsupported element are not judged.
  if (!from.runs) return;
  const hasCondition = childrenOf(element, "bpmn:conditionExpression").length > 0;
  const isExclusive = from.kind === "exclusiveGateway";
  if (hasCondition && !isExclusive) {
    const takes =
      from.kind === "eventBasedGateway"
        ? "takes the flow whose event comes first"
        : "takes every flow that leaves it";
    report.refuse({
      code: "bpmn/condition-not-allowed",
      at: element,
      message: `${called(element)} has a condition, but ${quoted(from.id)} ${takes}.`,
      hint: "Put an exclusive gateway in between and let the condition stand on a flow that leaves it.",
    });
  }
  if (!hasCondition && isExclusive && siblings > 1 && !isDefault(id, from)) {
    report.refuse({
      code: "bpmn/condition-missing",
      at: element,
      message: `${called(element)} leaves exclusive gateway ${quoted(from.id)} without a condition.`,
      hint: "Give it a condition that begins with =, or make it the default flow of the gateway.",
    });
  }
}

function isDefault(id: string, { kind, element }: Place): boolean {
  return kind === "exclusiveGateway" && id !== "" && element.attributes.get("default") === id;
}
