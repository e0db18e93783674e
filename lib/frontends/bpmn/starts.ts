import type { StartEvent } from "../../definition/definition.ts";
import {
  type Computed,
  evaluateComputed,
  resultOf,
  variablesOf,
} from "../../definition/expression.ts";
import { quoted } from "../../definition/parsed.ts";
import type { Context } from "./context.ts";
import { fits, type Named, nameOfReferred } from "./named.ts";
import type { Outline, Place } from "./outline.ts";
import { called, definitionsOf, idOf } from "./source.ts";
import { startTimer } from "./timers.ts";
import type { XmlElement } from "./xml.ts";

/**
 * How instances of a process start. A process has at most one plain start event; beside it or
 * instead of it signals and messages of different names, and timers; a sub-process has one plain
 * start event.
 */
export async function startEventsOf(
  { places }: Outline,
  context: Context,
): Promise<readonly StartEvent[]> {
  const starts = Map.groupBy(
    places.filter(({ kind }) => kind === "startEvent"),
    ({ scope }) => scope,
  );
  for (const place of places) {
    if (!place.runs || (place.kind !== "process" && place.kind !== "subProcess")) continue;
    checkCount(place, starts.get(place) ?? [], context);
  }
  const events: (StartEvent & Readonly<{ at: XmlElement }>)[] = [];
  for (const { element: at, runs } of starts.get(places[0]) ?? []) {
    const event = runs ? await startEventOf(at, context) : undefined;
    if (event !== undefined) events.push({ ...event, at });
  }
  checkNames(events, context);
  return events.map(({ at: _, ...event }) => event);
}

/** An unsupported start event was refused already. */
function checkCount({ element, kind }: Place, inside: readonly Place[], { report }: Context): void {
  const isPlain = (start: Place) => kind !== "process" || definitionsOf(start.element).length === 0;
  const plain = inside.filter((start) => start.runs && isPlain(start));
  if (inside.length === 0) {
    report.refuse({
      code: "bpmn/no-start-event",
      at: element,
      message: `${called(element)} has no start event.`,
      hint: 'Add a start event without a definition: <startEvent id="start" />.',
    });
  }
  if (plain.length > 1) {
    report.refuse({
      code: "bpmn/several-start-events",
      at: element,
      message: `${called(element)} has ${plain.length} plain start events.`,
      hint: "Keep one, and lead the others' flows to it by a gateway.",
    });
  }
}

/** One start event of the process; several definitions on it are refused where its node is made. */
async function startEventOf(event: XmlElement, context: Context): Promise<StartEvent | undefined> {
  const [definition, ...others] = definitionsOf(event);
  const element = idOf(event);
  if (definition === undefined) return { element, kind: "none" };
  if (others.length > 0) return undefined;
  if (definition.name === "bpmn:timerEventDefinition") {
    const timer = await startTimer(event, definition, context);
    return timer && { element, kind: "timer", timer };
  }
  const kind: Named = definition.name === "bpmn:signalEventDefinition" ? "signal" : "message";
  const written = nameOfReferred({ event, holder: definition, to: kind }, context);
  const name = written && (await fixedName(event, written, context));
  return name === undefined ? undefined : { element, kind, name };
}

/** There are no variables when a process is deployed, so the name must not read any. */
async function fixedName(
  event: XmlElement,
  written: Computed,
  context: Context,
): Promise<string | undefined> {
  const { expressions, report } = context;
  const text = written.kind === "feel" ? written.text : "";
  const [variable] = variablesOf(written, expressions);
  const evaluation = await evaluateComputed(written, expressions, () => undefined, DEPLOYING);
  const result = resultOf("string", text, evaluation);
  if (variable === undefined && result.ok && result.value.trim() !== "") {
    return fits({ at: event, text: result.value, as: "name" }, context) ? result.value : undefined;
  }
  const problem = result.ok ? "It is empty." : result.problem;
  return report.refuse({
    code: "bpmn/start-name-not-fixed",
    at: event,
    message: `${called(event)}: the name ${quoted(`=${text}`)} is not known when the process is deployed. ${
      variable === undefined ? problem : `It reads the variable ${quoted(variable)}.`
    }`,
    hint: "Write the name itself; there are no variables before an instance begins.",
  });
}

/** The same text must compile to the same definition at any time. */
const DEPLOYING = { now: 0, seed: "deploy" };

function checkNames(
  events: readonly (StartEvent & Readonly<{ at: XmlElement }>)[],
  { report }: Context,
): void {
  const taken = new Set<string>();
  for (const event of events) {
    if (event.kind === "none" || event.kind === "timer") continue;
    const { kind, name, at } = event;
    const key = JSON.stringify([kind, name]);
    if (taken.has(key)) {
      report.refuse({
        code: "bpmn/duplicate-start-name",
        at,
        message: `${called(at)} begins with ${kind} ${quoted(name)}, and so does another start event.`,
        hint: `Keep one of the two, or let it begin with another ${kind}.`,
      });
    }
    taken.add(key);
  }
}
