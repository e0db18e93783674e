import { evaluateComputed, resultOf, variablesOf } from "../../definition/expression.ts";
import type { TimerSpec } from "../../definition/graph.ts";
import { type Parsed, quoted, refused } from "../../definition/parsed.ts";
import { parseCycle } from "../../definition/time/cycle.ts";
import { parseDuration } from "../../definition/time/duration.ts";
import { parseZonedInstant } from "../../definition/time/instant.ts";
import { parseTimeZone, type TimeZone } from "../../definition/time/time-zone.ts";
import { type Context, computed } from "./context.ts";
import type { Report } from "./report.ts";
import { called, childrenOf, extensionsOf } from "./source.ts";
import { refuseUnknown } from "./unsupported.ts";
import { INERT_ANYWHERE } from "./vocabulary.ts";
import type { XmlElement } from "./xml.ts";

/** Reads the timer of an event; the allowed kinds depend on the event. */
export function timerSpec(
  event: XmlElement,
  definition: XmlElement,
  allowed: readonly TimerSpec["as"][],
  context: Context,
): TimerSpec | undefined {
  const { report } = context;
  const zone = timeZoneOf(event, report) ?? context.zone;
  for (const child of definition.children) {
    const name = child.name.slice("bpmn:".length);
    if (!child.name.startsWith("bpmn:") || KINDS.has(child.name) || INERT_ANYWHERE.has(name))
      continue;
    refuseUnknown(child, event, report);
  }
  const [value, ...others] = definition.children.filter(({ name }) => KINDS.has(name));
  const as = KINDS.get(value?.name ?? "");
  if (value === undefined || as === undefined || value.text === "") {
    return report.refuse({
      code: "bpmn/timer-without-value",
      at: event,
      message: `${called(event)}: the timer does not say when it fires.`,
      hint: `Add ${spoken(allowed)}, for example <timeDuration>PT15M</timeDuration>.`,
    });
  }
  if (others.length > 0) {
    return report.refuse({
      code: "bpmn/timer-with-several-values",
      at: event,
      message: `${called(event)}: the timer has ${others.length + 1} values.`,
      hint: "Keep one of duration, date and cycle, and remove the others.",
    });
  }
  if (!allowed.includes(as)) {
    return report.refuse({
      code: "bpmn/timer-kind-not-allowed",
      at: event,
      message: `${called(event)}: a ${as} cannot stand here.`,
      hint: `Use ${spoken(allowed)}. A cycle runs only on a start event, or on a boundary event that does not interrupt.`,
    });
  }
  const text = computed({ at: event, text: value.text, as }, context);
  if (text === undefined) return undefined;
  const parsed = text.kind === "static" ? parseTimer(as, value.text, zone) : undefined;
  if (parsed?.ok === false) {
    const { problem, hint } = parsed;
    const message = `${called(event)}: ${problem}`;
    return report.refuse({ code: "bpmn/invalid-timer", at: event, message, hint });
  }
  return { as, value: text, ...(zone && { zone }) };
}

/**
 * The timer of a start event. It is computed when the process is deployed or enabled, without
 * variables: here its value is only validated, as of an arbitrary moment.
 */
export async function startTimer(
  event: XmlElement,
  definition: XmlElement,
  context: Context,
): Promise<TimerSpec | undefined> {
  const timer = timerSpec(event, definition, ["duration", "date", "cycle"], context);
  if (timer === undefined) return undefined;
  const { expressions, report } = context;
  if (timer.value.kind === "feel") {
    const { text } = timer.value;
    const [variable] = variablesOf(timer.value, expressions);
    const evaluation = await evaluateComputed(timer.value, expressions, () => undefined, SOMETIME);
    const result = resultOf("string", text, evaluation);
    const zone = timer.zone === undefined ? undefined : parseTimeZone(timer.zone);
    const parsed = result.ok
      ? parseTimer(timer.as, result.value, zone?.ok ? zone.value : undefined)
      : refused(result.problem, "Write an expression that gives a text.");
    const refuse = (problem: string, hint: string) =>
      report.refuse({
        code: "bpmn/start-timer-not-fixed",
        at: event,
        message: `${called(event)}: the ${timer.as} ${quoted(`=${text}`)} ${problem}`,
        hint,
      });
    if (variable !== undefined) {
      return refuse(
        `is not known when the process is deployed. It reads the variable ${quoted(variable)}.`,
        "Write the value itself, or an expression without variables; there are none before an instance begins.",
      );
    }
    if (!parsed.ok) return refuse(`cannot be used. ${parsed.problem}`, parsed.hint);
  }
  if (timer.as === "duration") {
    report.warn({
      code: "bpmn/start-timer-from-deploy",
      at: event,
      message: `${called(event)} begins one instance, a duration after the process is deployed or enabled. Other engines do not allow that.`,
      hint: "Use <timeDate> for one instance at a fixed instant, or <timeCycle> for several.",
    });
  }
  return timer;
}

const SOMETIME = { now: 0, seed: "deploy" };

/** The zone that the property `timeZone` of an event or a process names. */
export function timeZoneOf(element: XmlElement, report: Report): TimeZone | undefined {
  const named = extensionsOf(element, "zeebe:properties")
    .flatMap((all) => childrenOf(all, "zeebe:property"))
    .find((property) => property.attributes.get("name") === "timeZone");
  if (named === undefined) return undefined;
  const zone = parseTimeZone(named.attributes.get("value") ?? "");
  if (zone.ok) return zone.value;
  const message = `${called(element)}: the property timeZone: ${zone.problem}`;
  return report.refuse({ code: "bpmn/invalid-time-zone", at: element, message, hint: zone.hint });
}

const KINDS: ReadonlyMap<string, TimerSpec["as"]> = new Map([
  ["bpmn:timeDuration", "duration"],
  ["bpmn:timeDate", "date"],
  ["bpmn:timeCycle", "cycle"],
]);

const ELEMENTS: Readonly<Record<TimerSpec["as"], string>> = {
  duration: "<timeDuration>",
  date: "<timeDate>",
  cycle: "<timeCycle>",
};

function spoken(kinds: readonly TimerSpec["as"][]): string {
  return kinds.map((kind) => ELEMENTS[kind]).join(" or ");
}

function parseTimer(as: TimerSpec["as"], text: string, zone?: TimeZone): Parsed<unknown> {
  switch (as) {
    case "duration":
      return parseDuration(text);
    case "date":
      return parseZonedInstant(text);
    case "cycle":
      return parseCycle(text, zone);
  }
}
