/** Small pieces of BPMN; each gives one line of XML or more, and says what it is about. */

type Attributes = Readonly<Record<string, string>>;

/** One element with attributes and content; undefined attributes are written by leaving them out. */
export function xml(
  name: string,
  attributes: Attributes = {},
  ...content: readonly string[]
): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(value)}"`);
  const inside = content.join("\n");
  return inside === ""
    ? `<${name}${written.join("")} />`
    : `<${name}${written.join("")}>${inside}</${name}>`;
}

/** Text as it stands between tags or in an attribute. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

/** A whole file; its first line is the XML declaration, its second the root element. */
export function file(...content: readonly string[]): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" xmlns:other="http://example.com/other" id="file">',
    ...content,
    "</definitions>",
  ].join("\n");
}

/** An executable process of this content. */
export function process(...content: readonly string[]): string {
  return xml("process", { id: "p", isExecutable: "true" }, ...content);
}

/** A file with one process in which `middle` lies between start and end. */
export function sequence(middle: string, ...more: readonly string[]): string {
  const id = /id="([^"]*)"/.exec(middle)?.[1] ?? "";
  const around = [start(), middle, end(), flow("f1", "start", id), flow("f2", id, "end")];
  return file(process(...around, ...more));
}

export const start = (id = "start", ...content: readonly string[]) =>
  xml("startEvent", { id }, ...content);

export const end = (id = "end", ...content: readonly string[]) =>
  xml("endEvent", { id }, ...content);

/** A sequence flow, with a condition where there is one. */
export function flow(id: string, sourceRef: string, targetRef: string, condition?: string): string {
  const inside =
    condition === undefined ? [] : [xml("conditionExpression", {}, escaped(condition))];
  return xml("sequenceFlow", { id, sourceRef, targetRef }, ...inside);
}

export const extensions = (...content: readonly string[]) =>
  xml("extensionElements", {}, ...content);

export const job = (type = "work", more: Attributes = {}) =>
  xml("zeebe:taskDefinition", { type, ...more });

/** A service task with a job and further extensions. */
export const service = (id: string, ...more: readonly string[]) =>
  xml("serviceTask", { id }, extensions(job(), ...more));

export const headers = (...entries: readonly (readonly [key: string, value: string])[]) =>
  xml(
    "zeebe:taskHeaders",
    {},
    ...entries.map(([key, value]) => xml("zeebe:header", { key, value })),
  );

export const ioMapping = (...content: readonly string[]) => xml("zeebe:ioMapping", {}, ...content);

/** A timer definition with one value. */
export const timer = (kind: "timeDuration" | "timeDate" | "timeCycle", value: string) =>
  xml("timerEventDefinition", {}, xml(kind, {}, escaped(value)));

/** A boundary event on an activity, with a flow of its own to the end event. */
export function boundary(
  id: string,
  on: string,
  definition: string,
  more: Attributes = {},
): string {
  return xml("boundaryEvent", { id, attachedToRef: on, ...more }, definition);
}

export const timeZone = (value: string) =>
  xml("zeebe:properties", {}, xml("zeebe:property", { name: "timeZone", value }));
