// Signals and messages are defined beside the processes of a file, and events refer to them by id.

import type { Computed } from "../../definition/expression.ts";
import type { Awaited } from "../../definition/graph.ts";
import { MAX_NAME_LENGTH } from "../../definition/limits.ts";
import { quoted } from "../../definition/parsed.ts";
import { type Context, computed } from "./context.ts";
import { called, extensionsOf, idOf } from "./source.ts";
import type { XmlElement } from "./xml.ts";

/** What can be referred to, and by which attribute. */
export type Named = "signal" | "message";

/** An event or receive task, and the element with its reference: its definition, or itself. */
export type Referring = Readonly<{ event: XmlElement; holder: XmlElement; to: Named }>;

/** The name of a signal or message; an invalid one is refused. */
export function nameOfReferred(referring: Referring, context: Context): Computed | undefined {
  const target = referred(referring, context);
  return target === undefined ? undefined : nameOfTarget(referring, target, context);
}

/** A wait for a signal, or for a message with its correlation key. */
export function awaitedByName(referring: Referring, context: Context): Awaited | undefined {
  const target = referred(referring, context);
  if (target === undefined) return undefined;
  const name = nameOfTarget(referring, target, context);
  if (referring.to === "signal") return name && { on: "signal", signal: name };
  const key = correlationKey(referring.event, target, context);
  return name && key && { on: "message", message: name, key };
}

/** The signal or message that an event refers to. */
function referred(
  { event, holder, to }: Referring,
  { find, report }: Context,
): XmlElement | undefined {
  const attribute = `${to}Ref`;
  const reference = holder.attributes.get(attribute) ?? "";
  if (reference === "") {
    return report.refuse({
      code: "bpmn/reference-missing",
      at: event,
      message: `${called(event)} does not say which ${to} it means.`,
      hint: `Add a <${to}> with an id and a name to the definitions, and refer to it by ${attribute}.`,
    });
  }
  const target = find(reference);
  if (target?.name === `bpmn:${to}`) return target;
  return report.refuse({
    code: "bpmn/unresolved-reference",
    at: event,
    message: `${called(event)}: ${attribute} names ${quoted(reference)}, which is no ${to} of this file.`,
    hint: `Add a <${to}> with this id to the definitions, or correct ${attribute}.`,
  });
}

function nameOfTarget(
  { event, to }: Referring,
  target: XmlElement,
  context: Context,
): Computed | undefined {
  const text = target.attributes.get("name") ?? "";
  if (text.trim() === "") {
    return context.report.refuse({
      code: "bpmn/reference-without-name",
      at: event,
      message: `${called(event)} refers to ${to} ${quoted(idOf(target))}, which has no name.`,
      hint: `Give the <${to}> a name, for example name="order-paid"; it is what the API calls it by.`,
    });
  }
  return bounded({ at: event, text, as: `${to} name` }, context);
}

/** Computed names are checked when they are evaluated. */
function bounded(written: Parameters<typeof computed>[0], context: Context): Computed | undefined {
  const value = computed(written, context);
  return value?.kind === "static" && !fits(written, context) ? undefined : value;
}

/** Whether a name or key is short enough; refuses it if not. */
export function fits(
  { at, text, as }: Parameters<typeof computed>[0],
  { report }: Context,
  limit = MAX_NAME_LENGTH,
): boolean {
  if (text.length <= limit) return true;
  report.refuse({
    code: "bpmn/name-too-long",
    at,
    message: `${called(at)}: the ${as} ${quoted(text)} has ${text.length} characters.`,
    hint: `Use at most ${limit}.`,
  });
  return false;
}

function correlationKey(
  event: XmlElement,
  message: XmlElement,
  context: Context,
): Computed | undefined {
  const [subscription] = extensionsOf(message, "zeebe:subscription");
  const text = subscription?.attributes.get("correlationKey") ?? "";
  if (text.trim() === "") {
    return context.report.refuse({
      code: "bpmn/correlation-key-missing",
      at: event,
      message: `${called(event)} waits for message ${quoted(idOf(message))}, which has no correlation key.`,
      hint: 'Add <zeebe:subscription correlationKey="=orderId" /> to the extension elements of the <message>.',
    });
  }
  const key = bounded({ at: event, text, as: "correlation key" }, context);
  if (key?.kind === "static") {
    context.report.warn({
      code: "bpmn/correlation-key-fixed",
      at: event,
      message: `${called(event)}: the correlation key ${quoted(text)} is the same for every instance.`,
      hint: `If a variable is meant, begin with an equals sign: =${text.trim()}.`,
    });
  }
  return key;
}
