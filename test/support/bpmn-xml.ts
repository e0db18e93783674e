/** Small pieces of BPMN; each returns one or more lines of XML. */

type Attributes = Readonly<Record<string, string>>;

/** One element with attributes and content; undefined attributes are left out. */
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

/** Text escaped for content and attributes. */
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

/** A file with one process in which `middle` is between start and end. */
export function sequence(middle: string, ...more: readonly string[]): string {
  const id = /id="([^"]*)"/.exec(middle)?.[1] ?? "";
  const around = [start(), middle, end(), flow("f1", "start", id), flow("f2", id, "end")];
  return file(process(...around, ...more));
}

export const start = (id = "start", ...content: readonly string[]) =>
  xml("startEvent", { id }, ...content);

export const end = (id = "end", ...content: readonly string[]) =>
  xml("endEvent", { id }, ...content);

/** A sequence flow, with an optional condition. */
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

/** A user task for users only; `more` are further extensions. */
export const person = (id: string, ...more: readonly string[]) =>
  xml("userTask", { id }, extensions("<zeebe:userTask />", ...more));

/** The assignment of a user task. */
export const assignment = (attributes: Attributes) => xml("zeebe:assignmentDefinition", attributes);

/** Properties of an element, by name. */
export const properties = (named: Attributes) =>
  xml(
    "zeebe:properties",
    {},
    ...Object.entries(named).map(([name, value]) => xml("zeebe:property", { name, value })),
  );

export const headers = (...entries: readonly (readonly [key: string, value: string])[]) =>
  xml(
    "zeebe:taskHeaders",
    {},
    ...entries.map(([key, value]) => xml("zeebe:header", { key, value })),
  );

export const ioMapping = (...content: readonly string[]) => xml("zeebe:ioMapping", {}, ...content);

/** A multi-instance marker: the attributes of its zeebe extension, then its other content. */
export const loop = (attributes: Attributes, ...content: readonly string[]) =>
  marker({}, attributes, content);

/** The same, in sequence. */
export const inTurn = (attributes: Attributes, ...content: readonly string[]) =>
  marker({ isSequential: "true" }, attributes, content);

const marker = (own: Attributes, attributes: Attributes, content: readonly string[]) =>
  xml(
    "multiInstanceLoopCharacteristics",
    own,
    extensions(xml("zeebe:loopCharacteristics", attributes)),
    ...content,
  );

/** A timer definition with one value. */
export const timer = (kind: "timeDuration" | "timeDate" | "timeCycle", value: string) =>
  xml("timerEventDefinition", {}, xml(kind, {}, escaped(value)));

/** A boundary event on an activity, with its own flow to the end event. */
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

/** A signal of the file, named like its id by default; it is defined beside the processes. */
export const aSignal = (id: string, name = id) => xml("signal", { id, name });

/** A message of the file; without a correlation key it can only start a process. */
export function aMessage(
  id: string,
  { name = id, key }: Readonly<{ name?: string; key?: string }> = {},
): string {
  const subscription =
    key === undefined ? [] : [xml("zeebe:subscription", { correlationKey: key })];
  return xml("message", { id, name }, ...subscription.map((one) => extensions(one)));
}

/**
 * A file with these signals, messages and errors beside its processes; earlier lines do not move.
 */
export const beside = (source: string, ...roots: readonly string[]) =>
  source.replace("</definitions>", () => `${[...roots, "</definitions>"].join("\n")}`);

/** What an event waits for or throws: a signal of the file. */
export const onSignal = (signalRef: string) => xml("signalEventDefinition", { signalRef });

/** What an event waits for or throws: a message of the file. */
export const onMessage = (messageRef: string) => xml("messageEventDefinition", { messageRef });

/** An intermediate event that waits; `more` are its extensions. */
export const catching = (id: string, definition: string, ...more: readonly string[]) =>
  xml("intermediateCatchEvent", { id }, ...extended(more), definition);

/** An intermediate event that throws; `more` are its extensions, such as the payload's inputs. */
export const throwing = (id: string, definition: string, ...more: readonly string[]) =>
  xml("intermediateThrowEvent", { id }, ...extended(more), definition);

/** A receive task; `more` are its extensions. */
export const receive = (id: string, messageRef: string, ...more: readonly string[]) =>
  xml("receiveTask", { id, messageRef }, ...extended(more));

/**
 * An event-based gateway and its events; after each element `x` is an end event `x-won`. The flows
 * are `<gateway>-x` and `x-on`.
 */
export function race(id: string, ...catches: readonly string[]): string {
  const branches = catches.flatMap((one) => {
    const to = /id="([^"]*)"/.exec(one)?.[1] ?? "";
    return [one, end(`${to}-won`), flow(`${id}-${to}`, id, to), flow(`${to}-on`, to, `${to}-won`)];
  });
  return [xml("eventBasedGateway", { id }), ...branches].join("\n");
}

const extended = (content: readonly string[]) =>
  content.length === 0 ? [] : [extensions(...content)];
