import { parseComputed } from "../../definition/expression.ts";
import type { Awaited, Behaviour, BoundaryTrigger, TimerSpec } from "../../definition/graph.ts";
import { MAX_LABEL_LENGTH } from "../../definition/limits.ts";
import { quoted } from "../../definition/parsed.ts";
import { type Context, computed } from "./context.ts";
import { awaitedByName, fits, type Named, nameOfReferred } from "./named.ts";
import type { Report } from "./report.ts";
import { booleanOf, called, definitionsOf } from "./source.ts";
import { jobTask } from "./tasks.ts";
import { timerSpec } from "./timers.ts";
import type { XmlElement } from "./xml.ts";

/** A start event: plain, or, in a process, triggered by a signal, a message or a timer. */
export function startEvent(
  event: XmlElement,
  scopeKind: string | undefined,
  { report }: Context,
): Behaviour | undefined {
  const definitions = definitionsOf(event);
  if (definitions.length === 0) return { kind: "start" };
  if (scopeKind !== "process") {
    return report.refuse({
      code: "bpmn/sub-process-start-not-none",
      at: event,
      message: `${called(event)} has an event definition, but a sub-process begins when it is reached.`,
      hint: "Remove the event definition from the start event.",
    });
  }
  if (definitions.length > 1) return refuseCount(event, report);
  return { kind: "start", triggered: true };
}

/** An end event: plain, terminating its scope, or throwing an error, a signal or a message. */
export function endEvent(event: XmlElement, context: Context): Behaviour | undefined {
  const [definition, ...others] = definitionsOf(event);
  if (others.length > 0) return refuseCount(event, context.report);
  if (definition === undefined) return { kind: "end", end: { as: "plain" } };
  switch (definition.name) {
    case "bpmn:terminateEventDefinition":
      return { kind: "end", end: { as: "terminate" } };
    case "bpmn:signalEventDefinition": {
      const signal = thrownSignal(event, definition, context);
      return signal && { kind: "end", end: { as: "signal", signal } };
    }
    case "bpmn:messageEventDefinition":
      return jobTask(event, context);
  }
  const thrown = errorOf(event, definition, context);
  if (thrown === "refused") return undefined;
  if (thrown.code === undefined) {
    return context.report.refuse({
      code: "bpmn/error-without-code",
      at: event,
      message: `${called(event)} throws an error without a code.`,
      hint: "Refer to an <error> of the file by errorRef and give it an errorCode.",
    });
  }
  const code = computed({ at: event, text: thrown.code, as: "error code" }, context);
  return code === undefined ? undefined : { kind: "end", end: { as: "error", code } };
}

/** An intermediate throw event: a signal, a message that a worker sends, or nothing at all. */
export function throwEvent(event: XmlElement, context: Context): Behaviour | undefined {
  const [definition, ...others] = definitionsOf(event);
  if (others.length > 0) return refuseCount(event, context.report);
  if (definition === undefined) return { kind: "pass" };
  if (definition.name === "bpmn:messageEventDefinition") return jobTask(event, context);
  const signal = thrownSignal(event, definition, context);
  return signal && { kind: "throw", signal };
}

/** An intermediate catch event. */
export function catchEvent(event: XmlElement, context: Context): Behaviour | undefined {
  const [definition, ...others] = definitionsOf(event);
  if (definition === undefined || others.length > 0) return refuseCount(event, context.report);
  const awaits = awaited(event, definition, ONCE, context);
  return awaits && { kind: "catch", awaits };
}

/** A task that waits for its message. */
export function receiveTask(task: XmlElement, context: Context): Behaviour | undefined {
  const awaits = awaitedByName({ event: task, holder: task, to: "message" }, context);
  return awaits && { kind: "catch", awaits };
}

/** An event on the boundary of the activity `on`. */
export function boundaryEvent(
  event: XmlElement,
  on: string | undefined,
  context: Context,
): Behaviour | undefined {
  const interrupting = booleanOf(event, "cancelActivity", true) ?? true;
  const trigger = triggerOf(event, interrupting, context);
  if (trigger === undefined || on === undefined) return undefined;
  return { kind: "boundary", on, interrupting, trigger };
}

const ONCE: readonly TimerSpec["as"][] = ["duration", "date"];
const ANY: readonly TimerSpec["as"][] = ["duration", "date", "cycle"];

function thrownSignal(event: XmlElement, holder: XmlElement, context: Context) {
  return nameOfReferred({ event, holder, to: "signal" }, context);
}

/** All other supported events have a name. */
function awaited(
  event: XmlElement,
  definition: XmlElement,
  timers: readonly TimerSpec["as"][],
  context: Context,
): Awaited | undefined {
  if (definition.name === "bpmn:timerEventDefinition") {
    const timer = timerSpec(event, definition, timers, context);
    return timer && { on: "timer", timer };
  }
  const to: Named = definition.name === "bpmn:signalEventDefinition" ? "signal" : "message";
  return awaitedByName({ event, holder: definition, to }, context);
}

function triggerOf(
  event: XmlElement,
  interrupting: boolean,
  context: Context,
): BoundaryTrigger | undefined {
  const [definition, ...others] = definitionsOf(event);
  if (definition === undefined || others.length > 0) return refuseCount(event, context.report);
  if (definition.name !== "bpmn:errorEventDefinition") {
    return awaited(event, definition, interrupting ? ONCE : ANY, context);
  }
  if (!interrupting) {
    return context.report.refuse({
      code: "bpmn/error-not-interrupting",
      at: event,
      message: `${called(event)} catches an error without interrupting, which no error allows.`,
      hint: 'Remove cancelActivity="false".',
    });
  }
  const caught = errorOf(event, definition, context);
  if (caught === "refused") return undefined;
  if (caught.code !== undefined && parseComputed(caught.code).kind === "feel") {
    return context.report.refuse({
      code: "bpmn/error-code-is-expression",
      at: event,
      message: `${called(event)} catches the code ${quoted(caught.code)}, but a caught code is no expression.`,
      hint: "Write the code itself, or leave errorRef out to catch every error.",
    });
  }
  return { on: "error", ...caught };
}

/** The error that a definition refers to; without a reference or a code, `code` is absent. */
function errorOf(
  event: XmlElement,
  definition: XmlElement,
  context: Context,
): Readonly<{ code?: string }> | "refused" {
  const { find, report } = context;
  const reference = definition.attributes.get("errorRef");
  if (reference === undefined || reference === "") return {};
  const error = find(reference);
  if (error?.name === "bpmn:error") {
    const code = error.attributes.get("errorCode") ?? "";
    const written = { at: event, text: code, as: "error code" };
    const isFixed = parseComputed(code).kind === "static";
    if (isFixed && !fits(written, context, MAX_LABEL_LENGTH)) return "refused";
    return code === "" ? {} : { code };
  }
  report.refuse({
    code: "bpmn/unresolved-reference",
    at: event,
    message: `${called(event)}: errorRef names ${quoted(reference)}, which is no error of this file.`,
    hint: "Add an <error> with this id to the definitions, or correct errorRef.",
  });
  return "refused";
}

function refuseCount(event: XmlElement, report: Report): undefined {
  return report.refuse({
    code: "bpmn/event-definition-count",
    at: event,
    message: `${called(event)} has ${definitionsOf(event).length} event definitions.`,
    hint: "Give it exactly one; start, end and throw events may also have none.",
  });
}
