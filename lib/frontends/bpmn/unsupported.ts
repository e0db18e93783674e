// Unsupported elements are refused by name, one diagnostic each: never dropped, never run as
// something else.

import type { Report } from "./report.ts";
import { booleanOf, bpmnName, called, childrenOf, extensionsOf } from "./source.ts";
import {
  INERT_ANYWHERE,
  INERT_EXTENSIONS,
  INSTEAD,
  JUDGED,
  MESSAGE_THROW,
  READ_EXTENSIONS,
  UNSUPPORTED_EXTENSIONS,
} from "./vocabulary.ts";
import type { XmlElement } from "./xml.ts";

/**
 * Whether a flow element cannot run at all, with a report of the reason; otherwise its children are
 * known.
 */
export function refusedAsWhole(element: XmlElement, scopeKind: string, report: Report): boolean {
  const kind = bpmnName(element) ?? "";
  const reason = unsupportedKind(element, kind) ?? unsupportedEvent(element, kind, scopeKind);
  if (reason !== undefined) {
    report.refuse({ code: "bpmn/unsupported-element", at: element, ...reason });
    return true;
  }
  if (kind !== "subProcess") {
    for (const child of element.children) {
      const name = bpmnName(child);
      if (name === undefined || INERT_ANYWHERE.has(name) || JUDGED.has(name)) continue;
      refuseUnknown(child, element, report);
    }
  }
  checkBooleans(element, report);
  checkExtensions(element, isMessageThrow(element, kind) ? MESSAGE_THROW : kind, report);
  return false;
}

function isMessageThrow(element: XmlElement, kind: string): boolean {
  const throws = kind === "intermediateThrowEvent" || kind === "endEvent";
  return throws && childrenOf(element, "bpmn:messageEventDefinition").length > 0;
}

/** Refuses a BPMN element that has no meaning in its place. */
export function refuseUnknown(child: XmlElement, parent: XmlElement, report: Report): void {
  report.refuse({
    code: "bpmn/unknown-element",
    at: child,
    message: `${called(parent)} contains <${child.name}>, which is not known there.`,
    hint: "Remove it, or check its spelling and its place in the BPMN schema.",
  });
}

/**
 * Warns about extensions that will not do what their author may expect; refuses those that must not
 * be ignored.
 */
function checkExtensions(element: XmlElement, kind: string, report: Report): void {
  const seen = new Set<string>();
  for (const holder of childrenOf(element, "bpmn:extensionElements")) {
    for (const extension of holder.children) {
      if (!extension.name.startsWith("zeebe:") || INERT_EXTENSIONS.has(extension.name)) continue;
      if (seen.has(extension.name)) refuseRepeated(extension, element, report);
      else checkExtension(extension, { element, kind }, report);
      seen.add(extension.name);
    }
  }
}

/** Refuses a second element if only one is allowed. */
export function refuseRepeated(child: XmlElement, parent: XmlElement, report: Report): undefined {
  return report.refuse({
    code: "bpmn/repeated-element",
    at: parent,
    message: `${called(parent)} has more than one <${child.name}>.`,
    hint: "Keep one and remove the others.",
  });
}

type Reason = Readonly<{ message: string; hint: string }>;

const SEE = "docs/reference/bpmn.md lists what runs.";

function unsupportedKind(element: XmlElement, kind: string): Reason | undefined {
  const instead = INSTEAD.get(kind);
  if (instead !== undefined) return notYet(called(element), instead);
  if (kind === "subProcess" && booleanOf(element, "triggeredByEvent", false) === true) {
    return notYet(
      `${called(element)}, an event sub-process,`,
      "Use a boundary event on an embedded sub-process.",
    );
  }
  for (const child of element.children) {
    if (child.name === "bpmn:standardLoopCharacteristics") {
      return notYet(`${called(element)} with a loop marker`, "Draw a loop with gateways.");
    }
  }
  if (booleanOf(element, "isForCompensation", false) === true) {
    return notYet(
      `${called(element)}, a compensation handler,`,
      "Draw what undoes the work on an error path.",
    );
  }
  if (booleanOf(element, "instantiate", false) === true) {
    return notYet(
      `${called(element)} that begins an instance`,
      "Use a start event with a message or a signal.",
    );
  }
  if (kind === "eventBasedGateway" && element.attributes.get("eventGatewayType") === "Parallel") {
    return notYet(
      `${called(element)} that waits for everything`,
      "Use a parallel gateway and a catch event in each branch.",
    );
  }
  for (const [extension, words] of UNSUPPORTED_EXTENSIONS) {
    if (!isPresent(element, extension)) continue;
    return notYet(`${called(element)} with ${words}`, `Remove <${extension}>.`);
  }
  return undefined;
}

function unsupportedEvent(
  element: XmlElement,
  kind: string,
  scopeKind: string,
): Reason | undefined {
  const runs = RUNNING_DEFINITIONS.get(kind);
  // A start event inside a sub-process has its own rule: a definition is always wrong there.
  if (runs === undefined || (kind === "startEvent" && scopeKind !== "process")) return undefined;
  for (const child of element.children) {
    if (child.name === "bpmn:eventDefinitionRef") {
      return notYet(
        `${called(element)} with a definition by reference`,
        "Write the event definition inside the event.",
      );
    }
    const definition = definitionKind(child);
    if (definition === undefined || runs.includes(definition)) continue;
    const article = /^[aeiou]/.test(definition) ? "an" : "a";
    return notYet(`${called(element)} with ${article} ${definition} definition`, ALTERNATIVE);
  }
  return undefined;
}

/** An empty list of listeners does nothing; any other content does. */
function isPresent(element: XmlElement, extension: string): boolean {
  return extensionsOf(element, extension).some(
    (one) => !extension.endsWith("Listeners") || one.children.length > 0,
  );
}

/** The event definitions that run, for each kind of event. */
const RUNNING_DEFINITIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ["startEvent", ["timer", "signal", "message"]],
  ["endEvent", ["terminate", "error", "signal", "message"]],
  ["intermediateThrowEvent", ["signal", "message"]],
  ["intermediateCatchEvent", ["timer", "signal", "message"]],
  ["boundaryEvent", ["timer", "error", "signal", "message"]],
]);

const ALTERNATIVE =
  "Events that run: plain, timer, signal and message start; plain, terminate, error, signal and message end; plain, signal and message throw; timer, signal and message catch; timer, error, signal and message boundary.";

/** `timer` for `bpmn:timerEventDefinition`; undefined for what defines no event. */
function definitionKind(element: XmlElement): string | undefined {
  const kind = /^bpmn:(\w+)EventDefinition$/.exec(element.name)?.[1];
  return kind === "compensate" ? "compensation" : kind;
}

function notYet(subject: string, instead: string): Reason {
  return { message: `${subject} is not supported yet.`, hint: `${instead} ${SEE}` };
}

function checkExtension(
  extension: XmlElement,
  { element, kind }: Readonly<{ element: XmlElement; kind: string }>,
  report: Report,
): void {
  if (UNSUPPORTED_EXTENSIONS.has(extension.name)) return;
  const meantFor = READ_EXTENSIONS.get(extension.name);
  if (meantFor?.has(kind) === true) return;
  report.warn({
    code: meantFor === undefined ? "bpmn/unknown-extension" : "bpmn/ignored-extension",
    at: element,
    message: `${called(element)}: <${extension.name}> has no effect here.`,
    hint: "Remove it, or change the type of the element to one that uses it.",
  });
}

function checkBooleans(element: XmlElement, report: Report): void {
  for (const name of ["triggeredByEvent", "isForCompensation", "cancelActivity", "instantiate"]) {
    if (booleanOf(element, name, false) === undefined) refuseBoolean(element, name, report);
  }
}

/** Refuses an attribute that is neither true nor false. */
export function refuseBoolean(element: XmlElement, name: string, report: Report): undefined {
  return report.refuse({
    code: "bpmn/invalid-boolean",
    at: element,
    message: `${called(element)}: the attribute ${name} is neither true nor false.`,
    hint: `Write ${name}="true" or ${name}="false".`,
  });
}

/** Checks the extensions of elements beside the processes: signals and messages. */
export function checkNamed(element: XmlElement, report: Report): void {
  checkExtensions(element, bpmnName(element) ?? "", report);
}

/** Checks the extensions of a process itself. */
export function refuseProcessExtensions(process: XmlElement, report: Report): void {
  for (const [extension, words] of UNSUPPORTED_EXTENSIONS) {
    if (!isPresent(process, extension)) continue;
    const reason = notYet(`${called(process)} with ${words}`, `Remove <${extension}>.`);
    report.refuse({ code: "bpmn/unsupported-element", at: process, ...reason });
  }
  checkExtensions(process, "process", report);
}
