// Multi-instance markers: an activity that runs once for each entry of a list.

import { type Computed, isVariableName } from "../../definition/expression.ts";
import type { Loop } from "../../definition/graph.ts";
import { quoted } from "../../definition/parsed.ts";
import type { BpmnCode } from "./codes.ts";
import { type Context, computed } from "./context.ts";
import type { Place } from "./outline.ts";
import { booleanOf, called, childrenOf, extensionsOf } from "./source.ts";
import { refuseBoolean, refuseRepeated, refuseUnknown } from "./unsupported.ts";
import { LOOP_MARKER } from "./vocabulary.ts";
import type { XmlElement } from "./xml.ts";

/** The loop of an element, if it has one; undefined when its marker was refused. */
export function loopOf(
  { element, kind }: Place,
  context: Context,
): Readonly<{ loop?: Loop }> | undefined {
  const [marker, second] = childrenOf(element, MARKER);
  if (marker === undefined) return {};
  if (second !== undefined) return refuseRepeated(second, element, context.report);
  if (!isActivity(kind)) {
    refuseUnknown(marker, element, context.report);
    return undefined;
  }
  const loop = read({ at: element, marker }, context);
  return loop && { loop };
}

const MARKER = `bpmn:${LOOP_MARKER}`;

const isActivity = (kind: string): boolean => /([tT]ask|[sS]ubProcess|callActivity)$/.test(kind);

/** The marker, and the activity that messages name. */
type Marked = Readonly<{ at: XmlElement; marker: XmlElement }>;

/** Everything is read before anything is refused, so that all problems are reported. */
function read(marked: Marked, context: Context): Loop | undefined {
  const { marker } = marked;
  const sequential = booleanOf(marker, "isSequential", false);
  if (sequential === undefined) refuseBoolean(marker, "isSequential", context.report);
  const [extension] = extensionsOf(marker, "zeebe:loopCharacteristics");
  const collection = collectionOf(marked, extension, context);
  const element = elementOf(marked, extension, context);
  const output = outputOf(marked, extension, context);
  const until = untilOf(marked, context);
  if (sequential === undefined || !collection || !element || !output || !until) return undefined;
  return { ...(sequential && { sequential }), collection, ...element, ...output, ...until };
}

/** A list; or, without one, a cardinality, which gives the numbers from 1 on. */
function collectionOf(
  { at, marker }: Marked,
  extension: XmlElement | undefined,
  context: Context,
): Computed | undefined {
  const text = extension?.attributes.get("inputCollection") ?? "";
  const [cardinality] = childrenOf(marker, "bpmn:loopCardinality");
  if (text.trim() === "") {
    if (cardinality !== undefined) return countOf(at, cardinality.text, context);
    return refuse(context, "bpmn/loop-without-collection", {
      at,
      message: `${called(at)} does not say for which entries it is to be done.`,
      hint: 'Add <zeebe:loopCharacteristics inputCollection="=items" inputElement="item" /> to the extension elements of its multi-instance marker.',
    });
  }
  if (cardinality !== undefined) {
    return refuse(context, "bpmn/ambiguous-loop", {
      at,
      message: `${called(at)} has both an input collection and a loop cardinality.`,
      hint: "Keep the input collection, or remove it and keep the loop cardinality.",
    });
  }
  return expressionIn({ at, text, as: "input collection" }, context);
}

function countOf(at: XmlElement, text: string, context: Context): Computed | undefined {
  const written = text.trim();
  const isNumber = /^\d{1,9}$/.test(written);
  if (!isNumber && !written.startsWith("=")) {
    return refuse(context, "bpmn/loop-not-feel", {
      at,
      message: `${called(at)}: the loop cardinality ${quoted(written)} is neither a whole number nor a FEEL expression.`,
      hint: "Write a number such as 3, or an expression such as =count(items).",
    });
  }
  const count = isNumber ? written : written.slice(1).trim();
  if (computed({ at, text: `=${count}`, as: "loop cardinality" }, context) === undefined) {
    return undefined;
  }
  // A range that ends below its start counts backwards, and one that ends at 1.5 stops at 1:
  // anything but a whole number gives no list, which is an incident.
  const list = `if floor(${count}) = (${count}) then for each in 1..(${count}) return each else null`;
  return { kind: "feel", text: `if (${count}) < 1 then [] else ${list}` };
}

/** The name of the entry's variable, if it has one; undefined when it was refused. */
function elementOf(
  { at }: Marked,
  extension: XmlElement | undefined,
  context: Context,
): Readonly<{ element?: string }> | undefined {
  const name = extension?.attributes.get("inputElement") ?? "";
  if (name === "") return {};
  if (isVariableName(name)) return { element: name };
  return refuseName(at, "input element", name, context);
}

type Output = NonNullable<Loop["output"]>;

/** The output collection, if there is one; undefined when it was refused. */
function outputOf(
  { at }: Marked,
  extension: XmlElement | undefined,
  context: Context,
): Readonly<{ output?: Output }> | undefined {
  const collection = extension?.attributes.get("outputCollection") ?? "";
  const text = extension?.attributes.get("outputElement") ?? "";
  if (collection === "" && text === "") return {};
  if (collection === "" || text === "") {
    const [has, lacks] =
      text === "" ? ["outputCollection", "outputElement"] : ["outputElement", "outputCollection"];
    return refuse(context, "bpmn/half-loop-output", {
      at,
      message: `${called(at)} has the attribute ${has} and no ${lacks}.`,
      hint: 'Write both, for example outputCollection="results" outputElement="=result", or neither.',
    });
  }
  const element = expressionIn({ at, text, as: "output element" }, context);
  if (!isVariableName(collection)) return refuseName(at, "output collection", collection, context);
  if (element === undefined) return undefined;
  const variable = variableIn(text.slice(1).trim());
  const isPreset = variable !== undefined && variable !== extension?.attributes.get("inputElement");
  return { output: { collection, element, ...(isPreset && { preset: variable }) } };
}

/** The variable that an output element reads if it consists only of that, or of a path into it. */
function variableIn(text: string): string | undefined {
  const names = text.split(".").map((name) => name.trim());
  return names.every(isVariableName) ? names[0] : undefined;
}

/** The completion condition, if there is one; undefined when it was refused. */
function untilOf(
  { at, marker }: Marked,
  context: Context,
): Readonly<{ until?: Computed }> | undefined {
  const [condition] = childrenOf(marker, "bpmn:completionCondition");
  const text = condition?.text.trim() ?? "";
  if (text === "") return {};
  const until = expressionIn({ at, text, as: "completion condition" }, context);
  return until && { until };
}

function expressionIn(
  { at, text, as }: Readonly<{ at: XmlElement; text: string; as: string }>,
  context: Context,
): Computed | undefined {
  if (text.startsWith("=")) return computed({ at, text, as }, context);
  return refuse(context, "bpmn/loop-not-feel", {
    at,
    message: `${called(at)}: the ${as} ${quoted(text)} is not a FEEL expression.`,
    hint: `Begin it with an equals sign: =${text.trim()}.`,
  });
}

function refuseName(at: XmlElement, as: string, name: string, context: Context): undefined {
  return refuse(context, "bpmn/invalid-loop-variable", {
    at,
    message: `${called(at)}: the ${as} ${quoted(name)} is not a variable name.`,
    hint: "Write letters, digits and _, not beginning with a digit and no FEEL keyword; it is a name, not an expression.",
  });
}

function refuse(
  { report }: Context,
  code: BpmnCode,
  reason: Readonly<{ at: XmlElement; message: string; hint: string }>,
): undefined {
  return report.refuse({ code, ...reason });
}
