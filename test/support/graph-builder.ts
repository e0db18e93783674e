// Small graphs, written so that a test shows only what matters to it.
import type { Definition } from "../../lib/definition/definition.ts";
import { type Computed, parseComputed } from "../../lib/definition/expression.ts";
import type {
  Binding,
  BoundaryTrigger,
  EndKind,
  Flow,
  Loop,
  Mapping,
  Node,
  TimerSpec,
} from "../../lib/definition/graph.ts";
import { USER_TASK_TYPE, type UserTaskSpec } from "../../lib/definition/user-task.ts";

/** Nodes and flows that belong together; those without a scope are in the one around them. */
export type Piece = Readonly<{ nodes: readonly Node[]; flows: readonly Flow[] }>;

type Around = Readonly<{ inputs?: Mappings; outputs?: Mappings; loop?: Loop }>;
/** Target to source, in order. */
type Mappings = Readonly<Record<string, string>>;

/** A definition from its pieces and its flows: `"a -> b -> c"`, or `"a -> b if amount > 10"`. */
export function aProcess(
  pieces: readonly Piece[],
  flows: readonly string[],
  { id = "process", ...around }: Around & Readonly<{ id?: string }> = {},
): Definition {
  const { nodes, flows: arrows } = inScope(id, pieces, flows);
  const root: Node = { id, kind: "process", ...mappings(around) };
  const graph = { nodes: [root, ...nodes], flows: arrows };
  return {
    id,
    version: 1,
    hash: "hash",
    notation: "bpmn",
    body: { runner: "graph", graph },
    elements: [...graph.nodes, ...graph.flows].map((element) => element.id),
    startEvents: [],
  };
}

/** An embedded sub-process. */
export function aScope(
  id: string,
  pieces: readonly Piece[],
  flows: readonly string[],
  around: Around = {},
): Piece {
  const inner = inScope(id, pieces, flows);
  const scope: Node = { id, kind: "scope", ...mappings(around) };
  return { nodes: [scope, ...inner.nodes], flows: inner.flows };
}

export const aStart = (id = "start"): Piece => piece({ id, kind: "start" });
/** A start event that starts only when it is triggered. */
export const aTriggeredStart = (id: string, around: Around = {}): Piece =>
  piece({ id, kind: "start", triggered: true, ...mappings(around) });
export const aPass = (id: string, around: Around = {}): Piece =>
  piece({ id, kind: "pass", ...mappings(around) });
export const aFork = (id: string): Piece => piece({ id, kind: "parallel" });
export const aChoice = (id: string, otherwise?: string): Piece =>
  piece({ id, kind: "exclusive", ...(otherwise && { otherwise }) });

export const anEnd = (id = "end", around: Around = {}): Piece =>
  ending(id, { as: "plain" }, around);
export const aTerminateEnd = (id: string): Piece => ending(id, { as: "terminate" });
export const anErrorEnd = (id: string, code: string): Piece =>
  ending(id, { as: "error", code: computed(code) });

/** A task; its type is its id by default. */
export function aTask(
  id: string,
  options: Around &
    Readonly<{
      type?: string;
      retries?: string;
      backoff?: string;
      headers?: Readonly<Record<string, string>>;
    }> = {},
): Piece {
  const { type = id, retries = "3", backoff, headers } = options;
  return piece({
    id,
    kind: "task",
    type: computed(type),
    retries: computed(retries),
    ...(backoff && { backoff }),
    ...(headers && { headers }),
    ...mappings(options),
  });
}

/** The assignment of a user task, written as attributes are; lists by name. */
export type People = Omit<
  Readonly<Partial<Record<keyof UserTaskSpec, string>>>,
  "asJob" | "form" | "requires" | "candidateUsers" | "candidateGroups"
> &
  Pick<UserTaskSpec, "asJob" | "form" | "requires"> &
  Readonly<{
    candidateUsers?: readonly string[] | string;
    candidateGroups?: readonly string[] | string;
  }>;

/** A user task: only for users unless it has `asJob`. */
export function aUserTask(
  id: string,
  { asJob, form, requires, ...people }: People = {},
  around: Around = {},
): Piece {
  const said = Object.entries(people).map(([name, value]): [string, Computed] => [
    name,
    typeof value === "string" ? computed(value) : { kind: "static", value },
  ]);
  const person: UserTaskSpec = {
    ...(asJob && { asJob }),
    ...(form && { form }),
    ...(requires && { requires }),
    ...Object.fromEntries(said),
  };
  return piece({
    id,
    kind: "task",
    type: text(USER_TASK_TYPE),
    retries: computed("1"),
    person,
    ...mappings(around),
  });
}

/** A call of another process, whose id is its own by default. */
export function aCall(
  id: string,
  options: Around &
    Readonly<{
      process?: string;
      binding?: Binding;
      passesAll?: boolean;
      takesAll?: boolean;
      detached?: true;
    }> = {},
): Piece {
  const { process = id, binding, passesAll = true, takesAll = true, detached } = options;
  return piece({
    id,
    kind: "call",
    process: computed(process),
    ...(binding && { binding }),
    passesAll,
    takesAll,
    ...(detached && { detached }),
    ...mappings(options),
  });
}

/** A script task: `"total = price * amount"`. */
export function aScript(id: string, assignment: string, around: Around = {}): Piece {
  const [, result = "", text = ""] = /^(\w+) = (.*)$/.exec(assignment) ?? [];
  const expression: Computed = { kind: "feel", text };
  return piece({ id, kind: "script", expression, result, ...mappings(around) });
}

type When = Readonly<{ duration: string } | { date: string } | { cycle: string }> &
  Readonly<{ zone?: string }>;

/** An intermediate timer. */
export const aTimer = (id: string, when: When, around: Around = {}): Piece =>
  piece({ id, kind: "catch", awaits: { on: "timer", timer: spec(when) }, ...mappings(around) });

/** A timer on the boundary of `on`, interrupting by default. */
export const aBoundaryTimer = (
  id: string,
  { on, interrupting = true, ...when }: When & Readonly<{ on: string; interrupting?: boolean }>,
): Piece =>
  piece({ id, kind: "boundary", on, interrupting, trigger: { on: "timer", timer: spec(when) } });

/** A wait for a broadcast of this name. */
export const aSignalCatch = (id: string, name: string, around: Around = {}): Piece =>
  piece({ id, kind: "catch", awaits: { on: "signal", signal: text(name) }, ...mappings(around) });

/** A wait for a message of this name and, if one is given, of this correlation key. */
export const aMessageCatch = (id: string, name: string, key?: string, around: Around = {}): Piece =>
  piece({ id, kind: "catch", awaits: messageOf(name, key), ...mappings(around) });

/** Broadcasts a signal; its payload are the input mappings. */
export const aSignalThrow = (id: string, name: string, around: Around = {}): Piece =>
  piece({ id, kind: "throw", signal: text(name), ...mappings(around) });

/** An end that broadcasts a signal. */
export const aSignalEnd = (id: string, name: string, around: Around = {}): Piece =>
  ending(id, { as: "signal", signal: text(name) }, around);

/** Waits for the first of the catch events at its outgoing flows. */
export const anEventGateway = (id: string): Piece => piece({ id, kind: "event-gateway" });

type OnBorder = Around & Readonly<{ on: string; interrupting?: boolean; name: string }>;

/** A wait for a signal on the boundary of `on`, interrupting by default. */
export const aBoundarySignal = (id: string, { name, ...border }: OnBorder): Piece =>
  onBorder(id, border, { on: "signal", signal: text(name) });

/** A wait for a message on the boundary of `on`, interrupting by default. */
export const aBoundaryMessage = (
  id: string,
  { name, key, ...border }: OnBorder & Readonly<{ key?: string }>,
): Piece => onBorder(id, border, messageOf(name, key));

/** An error boundary event on `on`; without a code, for every error. */
export const aBoundaryError = (
  id: string,
  { on, code, ...around }: Around & Readonly<{ on: string; code?: string }>,
): Piece =>
  piece({
    id,
    kind: "boundary",
    on,
    interrupting: true,
    trigger: { on: "error", ...(code !== undefined && { code }) },
    ...mappings(around),
  });

const computed = (text: string): Computed => parseComputed(text);
const text = (value: string): Computed => parseComputed(value, "text");
const messageOf = (name: string, key: string | undefined): BoundaryTrigger & { on: "message" } => ({
  on: "message",
  message: text(name),
  ...(key !== undefined && { key: text(key) }),
});
const onBorder = (
  id: string,
  { on, interrupting = true, ...around }: Omit<OnBorder, "name">,
  trigger: BoundaryTrigger,
): Piece => piece({ id, kind: "boundary", on, interrupting, trigger, ...mappings(around) });
const piece = (node: Node): Piece => ({ nodes: [node], flows: [] });
const ending = (id: string, end: EndKind, around: Around = {}): Piece =>
  piece({ id, kind: "end", end, ...mappings(around) });

function spec(when: When): TimerSpec {
  const zone = when.zone === undefined ? {} : { zone: when.zone };
  if ("duration" in when) return { as: "duration", value: computed(when.duration), ...zone };
  if ("date" in when) return { as: "date", value: computed(when.date), ...zone };
  return { as: "cycle", value: computed(when.cycle), ...zone };
}

/** A loop over `=items` with each as `item`; results are collected if specified. */
export function aLoop({
  over = "=items",
  as = "item",
  gathers,
  preset,
  until,
  sequential,
}: Readonly<{
  over?: string;
  as?: string;
  gathers?: string;
  preset?: string;
  until?: string;
  sequential?: true;
}> = {}): Loop {
  return {
    ...(sequential && { sequential }),
    collection: computed(over),
    ...(as !== "" && { element: as }),
    ...(gathers !== undefined && {
      output: {
        collection: "results",
        element: computed(gathers),
        ...(preset !== undefined && { preset }),
      },
    }),
    ...(until !== undefined && { until: computed(until) }),
  };
}

function mappings({ inputs, outputs, loop }: Around): Pick<Node, "inputs" | "outputs" | "loop"> {
  return {
    ...(loop && { loop }),
    ...(inputs && { inputs: mappingList(inputs) }),
    ...(outputs && { outputs: mappingList(outputs) }),
  };
}

const mappingList = (entries: Mappings): readonly Mapping[] =>
  Object.entries(entries).map(([target, source]) => ({
    target,
    source: parseComputed(source, "text"),
  }));

function inScope(scope: string, pieces: readonly Piece[], flows: readonly string[]): Piece {
  return {
    nodes: pieces.flatMap(({ nodes }) => nodes.map((node) => ({ scope, ...node }))),
    flows: [...pieces.flatMap((inner) => inner.flows), ...flows.flatMap(arrows)],
  };
}

/** A flow's id is how it is written: `a -> b`. */
function arrows(text: string): readonly Flow[] {
  const [path = "", condition] = text.split(" if ");
  const stops = path.split(" -> ");
  return stops.slice(1).map((to, index) => {
    const from = stops[index] ?? "";
    const when = condition === undefined ? {} : { condition: computed(`=${condition}`) };
    return { id: `${from} -> ${to}`, from, to, ...when };
  });
}
