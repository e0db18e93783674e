import { isMappingTarget } from "../../definition/expression.ts";
import type { Mapping, Node } from "../../definition/graph.ts";
import { quoted } from "../../definition/parsed.ts";
import { type Context, computed } from "./context.ts";
import { called, childrenOf, extensionsOf } from "./source.ts";
import type { XmlElement } from "./xml.ts";

/** Reads the input and output mappings of an element; every problem is reported. */
export function mappingsOf(
  element: XmlElement,
  context: Context,
): Pick<Node, "inputs" | "outputs"> {
  const [mapping] = extensionsOf(element, "zeebe:ioMapping");
  if (mapping === undefined) return {};
  const read = (name: "input" | "output"): readonly Mapping[] =>
    childrenOf(mapping, `zeebe:${name}`).flatMap(
      (one) => mappingOf(element, { direction: name, one }, context) ?? [],
    );
  const [inputs, outputs] = [read("input"), read("output")];
  return { ...(inputs.length > 0 && { inputs }), ...(outputs.length > 0 && { outputs }) };
}

function mappingOf(
  element: XmlElement,
  { direction, one }: Readonly<{ direction: "input" | "output"; one: XmlElement }>,
  context: Context,
): Mapping | undefined {
  const target = one.attributes.get("target") ?? "";
  const source = sourceOf(element, { direction, text: one.attributes.get("source") }, context);
  if (!isMappingTarget(target)) {
    return context.report.refuse({
      code: "bpmn/invalid-mapping-target",
      at: element,
      message: `${called(element)}: the ${direction} target ${quoted(target)} is not a variable name.`,
      hint: "Write letters, digits and _, not beginning with a digit and no FEEL keyword; dots lead into an object, as in order.id.",
    });
  }
  return source === undefined ? undefined : { source, target };
}

/** Static input is text, whatever it looks like; an absent source is null. */
function sourceOf(
  element: XmlElement,
  { direction, text }: Readonly<{ direction: string; text: string | undefined }>,
  context: Context,
) {
  if (text === undefined) return { kind: "static", value: null } as const;
  if (direction === "output" && !text.startsWith("=")) {
    return context.report.refuse({
      code: "bpmn/output-not-feel",
      at: element,
      message: `${called(element)}: the output source ${quoted(text)} is not a FEEL expression.`,
      hint: `Begin it with an equals sign, for example =result.`,
    });
  }
  return computed({ at: element, text, as: `${direction} source` }, context);
}
