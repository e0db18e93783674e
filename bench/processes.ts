// The processes that are measured. Handlers do nothing, so only the engine is measured.

const open = `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="bench">`;

/** This many tasks of one type, one after another. */
export function sequence(id: string, tasks: number, type = "step"): string {
  const names = Array.from({ length: tasks }, (_, n) => `t${n + 1}`);
  const path = ["start", ...names, "end"];
  const flows = path.slice(1).map((to, n) => flow(path[n] ?? "", to));
  return process(id, ...names.map((name) => task(name, type)), ...flows);
}

/** This many tasks of the type `step` at once. */
export function fan(id: string, tasks: number): string {
  const names = Array.from({ length: tasks }, (_, n) => `t${n + 1}`);
  const gateways = ["fork", "join"].map((name) => `<parallelGateway id="${name}"/>`);
  const flows = names.flatMap((name) => [flow("fork", name), flow(name, "join")]);
  return process(
    id,
    ...gateways,
    ...names.map((name) => task(name, "step")),
    flow("start", "fork"),
    ...flows,
    flow("join", "end"),
  );
}

/** One timer and nothing else. */
export function sleeper(id: string, duration: string): string {
  const timer = `<timerEventDefinition><timeDuration>${duration}</timeDuration></timerEventDefinition>`;
  const nap = `<intermediateCatchEvent id="nap">${timer}</intermediateCatchEvent>`;
  return process(id, nap, flow("start", "nap"), flow("nap", "end"));
}

/** One wait for a signal of this name and nothing else. */
export function signalWaiter(id: string, signal: string): string {
  const wait = `<intermediateCatchEvent id="wait"><signalEventDefinition signalRef="it"/></intermediateCatchEvent>`;
  const path = [wait, flow("start", "wait"), flow("wait", "end")];
  return beside(`<signal id="it" name="${signal}"/>`, process(id, ...path));
}

/** One wait for a message of this name, under the variable `key`, and nothing else. */
export function messageWaiter(id: string, message: string): string {
  const wait = `<intermediateCatchEvent id="wait"><messageEventDefinition messageRef="it"/></intermediateCatchEvent>`;
  const byKey = `<extensionElements><zeebe:subscription correlationKey="=key"/></extensionElements>`;
  const path = [wait, flow("start", "wait"), flow("wait", "end")];
  return beside(`<message id="it" name="${message}">${byKey}</message>`, process(id, ...path));
}

const beside = (root: string, source: string): string =>
  source.replace("</definitions>", () => `${root}</definitions>`);

function process(id: string, ...content: readonly string[]): string {
  const inside = ['<startEvent id="start"/>', '<endEvent id="end"/>', ...content];
  return `${open}<process id="${id}" isExecutable="true">${inside.join("")}</process></definitions>`;
}

function task(id: string, type: string): string {
  const definition = `<zeebe:taskDefinition type="${type}"/>`;
  return `<serviceTask id="${id}"><extensionElements>${definition}</extensionElements></serviceTask>`;
}

function flow(from: string, to: string): string {
  return `<sequenceFlow id="${from}-${to}" sourceRef="${from}" targetRef="${to}"/>`;
}
