import { end, extensions, flow, job, start, xml } from "./bpmn-xml.ts";

type Attributes = Readonly<Record<string, string>>;

/**
 * A call activity; `called` are the attributes of its called element, `more` further extensions.
 */
export const calling = (
  id: string,
  processId: string,
  called: Attributes = {},
  ...more: readonly string[]
) =>
  xml(
    "callActivity",
    { id },
    extensions(xml("zeebe:calledElement", { processId, ...called }), ...more),
  );

/** The property that lets a call continue as soon as its child exists. */
export const DETACHED = xml(
  "zeebe:properties",
  {},
  xml("zeebe:property", { name: "detached", value: "true" }),
);

/** A process with this id and these elements one after the other, with more beside them. */
export function line(id: string, elements: readonly string[], ...more: readonly string[]): string {
  const ids = elements.map((one) => /id="([^"]*)"/.exec(one)?.[1] ?? "");
  const all = [`${id}-start`, ...ids, `${id}-end`];
  const flows = all.slice(1).map((to, n) => flow(`${id}-f${n}`, all[n] ?? "", to));
  const content = [start(`${id}-start`), ...elements, end(`${id}-end`), ...flows, ...more];
  return xml("process", { id, isExecutable: "true" }, ...content);
}

/** A service task whose job has the type of its id. */
export const working = (id: string, ...more: readonly string[]) =>
  xml("serviceTask", { id }, extensions(job(id), ...more));

/** An error boundary event with its own flow; without a code it catches everything. */
export const onError = (id: string, on: string, errorRef?: string) =>
  xml(
    "boundaryEvent",
    { id, attachedToRef: on },
    xml("errorEventDefinition", errorRef === undefined ? {} : { errorRef }),
  );

export const anError = (id: string, errorCode = id) => xml("error", { id, errorCode });
