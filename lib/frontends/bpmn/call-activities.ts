import type { Behaviour, Binding } from "../../definition/graph.ts";
import { quoted } from "../../definition/parsed.ts";
import { type Context, computed } from "./context.ts";
import { MAX_TAG_LENGTH } from "./limits.ts";
import type { Report } from "./report.ts";
import { booleanOf, called, childrenOf, extensionsOf } from "./source.ts";
import { refuseBoolean } from "./unsupported.ts";
import type { XmlElement } from "./xml.ts";

/** Runs another process. The flags are on where they are absent, as the zeebe extension says. */
export function callActivity(element: XmlElement, context: Context): Behaviour | undefined {
  const { report } = context;
  const [extension] = extensionsOf(element, "zeebe:calledElement");
  const text = extension?.attributes.get("processId") ?? "";
  const detached = detachedOf(element, report);
  if (extension === undefined || text.trim() === "") {
    return report.refuse({
      code: "bpmn/call-without-process",
      at: element,
      message: `${called(element)} does not say which process it calls.`,
      hint: 'Add <zeebe:calledElement processId="invoice" /> to its extension elements; the id may be an expression that begins with =.',
    });
  }
  const process = computed({ at: element, text: text.trim(), as: "id of a process" }, context);
  const passesAll = flagOf(element, extension, "propagateAllParentVariables", report);
  const takesAll = flagOf(element, extension, "propagateAllChildVariables", report);
  const bound = bindingOf(element, extension, report);
  if (process === undefined || passesAll === undefined || takesAll === undefined) return undefined;
  if (bound === undefined || detached === undefined) return undefined;
  return {
    kind: "call",
    process,
    ...bound,
    passesAll,
    takesAll,
    ...(detached && { detached: true }),
  };
}

/** The tag of a process's version, by which calls may be bound to it. */
export function versionTagOf(
  process: XmlElement,
  report: Report,
): Readonly<{ versionTag?: string }> {
  const [tag] = extensionsOf(process, "zeebe:versionTag");
  if (tag === undefined) return {};
  const versionTag = tag.attributes.get("value") ?? "";
  if (isTag(versionTag)) return { versionTag };
  report.refuse({
    code: "bpmn/invalid-version-tag",
    at: process,
    message: `${called(process)}: ${quoted(versionTag)} is not a version tag.`,
    hint: TAG_RULE,
  });
  return {};
}

const isTag = (text: string): boolean =>
  text.trim() !== "" && text.length <= MAX_TAG_LENGTH && !text.startsWith("=");

const TAG_RULE = `Write 1 to ${MAX_TAG_LENGTH} characters, for example 1.2; it is no expression.`;

function flagOf(
  element: XmlElement,
  extension: XmlElement,
  name: string,
  report: Report,
): boolean | undefined {
  const flag = booleanOf(extension, name, true);
  return flag === undefined ? refuseBoolean(element, name, report) : flag;
}

type Bound = Readonly<{ binding?: Binding }>;

function bindingOf(element: XmlElement, extension: XmlElement, report: Report): Bound | undefined {
  const type = extension.attributes.get("bindingType") ?? "latest";
  const tag = extension.attributes.get("versionTag");
  const refuse = (message: string, hint: string): undefined =>
    report.refuse({
      code: "bpmn/invalid-binding",
      at: element,
      message: `${called(element)}: ${message}`,
      hint,
    });
  if (type === "versionTag") {
    if (tag === undefined) {
      return refuse("it is bound to a version tag, and names none.", 'Add versionTag="1.2".');
    }
    if (!isTag(tag)) return refuse(`${quoted(tag)} is not a version tag.`, TAG_RULE);
    return { binding: { tag } };
  }
  if (type !== "latest" && type !== "deployment") {
    return refuse(
      `the binding ${quoted(type)} is not known.`,
      "Write bindingType as latest, deployment or versionTag.",
    );
  }
  if (tag !== undefined && tag !== "") {
    return refuse(
      `it names the version tag ${quoted(tag)}, and is bound to ${type}.`,
      'Write bindingType="versionTag", or remove the tag.',
    );
  }
  return type === "deployment" ? { binding: type } : {};
}

/** False where the property is absent. */
function detachedOf(element: XmlElement, report: Report): boolean | undefined {
  const property = extensionsOf(element, "zeebe:properties")
    .flatMap((all) => childrenOf(all, "zeebe:property"))
    .find(({ attributes }) => attributes.get("name") === "detached");
  if (property === undefined) return false;
  const value = property.attributes.has("value") ? booleanOf(property, "value", false) : undefined;
  if (value !== undefined) return value;
  return report.refuse({
    code: "bpmn/invalid-boolean",
    at: element,
    message: `${called(element)}: the property detached is neither true nor false.`,
    hint: 'Write <zeebe:property name="detached" value="true" />, or remove it.',
  });
}
