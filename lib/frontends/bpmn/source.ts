import { quoted } from "../../definition/parsed.ts";
import type { XmlElement } from "./xml.ts";

/** The id of an element, empty if it has none. */
export function idOf(element: XmlElement): string {
  return element.attributes.get("id") ?? "";
}

/** The local name of a BPMN element, such as `serviceTask`; undefined for other namespaces. */
export function bpmnName(element: XmlElement): string | undefined {
  return element.name.startsWith("bpmn:") ? element.name.slice("bpmn:".length) : undefined;
}

/** The children with this full name, such as `bpmn:error`. */
export function childrenOf(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.filter((child) => child.name === name);
}

/** The extensions of an element that have this full name, such as `zeebe:ioMapping`. */
export function extensionsOf(element: XmlElement, name: string): readonly XmlElement[] {
  return childrenOf(element, "bpmn:extensionElements").flatMap((all) => childrenOf(all, name));
}

/** The event definitions inside an event, those by reference included. */
export function definitionsOf(event: XmlElement): readonly XmlElement[] {
  return event.children.filter(({ name }) =>
    /^bpmn:(\w+EventDefinition|eventDefinitionRef)$/.test(name),
  );
}

/** The element's name, if its author gave one. */
export function nameOf(element: XmlElement): Readonly<{ name?: string }> {
  const name = element.attributes.get("name");
  return name === undefined || name === "" ? {} : { name };
}

/** How a message begins with an element: `Boundary event "remind"`. */
export function called(element: XmlElement): string {
  const id = idOf(element);
  const words = wordsOf(element);
  const name = id === "" ? "without an id" : quoted(id);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} ${name}`;
}

/** The kind of an element in plain words: `boundary event` for `bpmn:boundaryEvent`. */
function wordsOf(element: XmlElement): string {
  return (bpmnName(element) ?? element.name)
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace("sub process", "sub-process")
    .replace("ad hoc", "ad-hoc");
}

/** A boolean attribute in the format of XML Schema; undefined when it is none. */
export function booleanOf(
  element: XmlElement,
  attribute: string,
  otherwise: boolean,
): boolean | undefined {
  const text = element.attributes.get(attribute)?.trim();
  if (text === undefined) return otherwise;
  if (text === "true" || text === "1") return true;
  return text === "false" || text === "0" ? false : undefined;
}
