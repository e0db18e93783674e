import type { Definition } from "../../definition/definition.ts";
import type { Awaited, Flow, Graph, Loop, Mapping, Node } from "../../definition/graph.ts";
import type { Json } from "../../definition/json.ts";

/** A graph prepared for moves along it; made once per definition. */
export type Plan = Readonly<{
  root: string;
  spots: ReadonlyMap<string, Spot>;
  /** Forms that stand in the definition, by their ids. */
  forms: ReadonlyMap<string, Json>;
}>;

/** A node and its surroundings. Flows and boundaries are in the order of the source. */
export type Spot = Readonly<{
  node: Node;
  inputs: readonly Mapping[];
  outputs: readonly Mapping[];
  incoming: readonly Flow[];
  outgoing: readonly Flow[];
  /** Where control starts inside a scope, unless a trigger names its start event. */
  starts: readonly string[];
  boundaries: readonly Boundary[];
  /** What a token here waits for, in the order in which it is computed and opened. */
  wanted: readonly Wanted[];
  /** The most outside calls that entering it makes: waits with a row, signals thrown. */
  calls: number;
}>;

/** One wait of an element; one that `stays` remains open when it is triggered. */
export type Wanted = Readonly<{ element: string; awaits: Awaited; stays: boolean }>;

export type Boundary = Extract<Node, { kind: "boundary" }>;

/** Prepares a graph for running. */
export function planOf(definition: Definition): Plan {
  const { body, id } = definition;
  if (body.runner !== "graph") {
    throw new Error(`Definition ${id} is for the runner "${body.runner}", not for the graph's.`);
  }
  return { root: id, spots: spotsOf(body.graph), forms: formsOf(body.graph) };
}

function formsOf({ nodes }: Graph): Plan["forms"] {
  return new Map(
    nodes.flatMap((node) => (node.kind === "process" ? Object.entries(node.forms ?? {}) : [])),
  );
}

/** The node of this id and its surroundings. */
export function spotOf(plan: Plan, id: string): Spot {
  const spot = plan.spots.get(id);
  if (spot === undefined) throw new Error(`The definition ${plan.root} has no element "${id}".`);
  return spot;
}

/** The task that stands at this node. */
export function taskAt(plan: Plan, id: string): Extract<Node, { kind: "task" }> {
  const { node } = spotOf(plan, id);
  if (node.kind !== "task") throw new Error(`The element "${id}" of ${plan.root} is no task.`);
  return node;
}

/** The loop that stands at this node. */
export function loopAt(plan: Plan, id: string): Loop {
  const { loop } = spotOf(plan, id).node;
  if (loop === undefined) throw new Error(`The element "${id}" of ${plan.root} is no loop.`);
  return loop;
}

/** The call that stands at this node. */
export function callAt(plan: Plan, id: string): Extract<Node, { kind: "call" }> {
  const { node } = spotOf(plan, id);
  if (node.kind !== "call") throw new Error(`The element "${id}" of ${plan.root} calls nothing.`);
  return node;
}

function spotsOf({ nodes, flows }: Graph): ReadonlyMap<string, Spot> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const incoming = Map.groupBy(flows, (flow) => flow.to);
  const outgoing = Map.groupBy(flows, (flow) => flow.from);
  const starts = Map.groupBy(nodes.filter(isStart), (node) => node.scope);
  const boundaries = Map.groupBy(nodes.filter(isBoundary), (node) => node.on);
  return new Map(
    nodes.map((node) => {
      const around = {
        incoming: incoming.get(node.id) ?? [],
        outgoing: outgoing.get(node.id) ?? [],
        boundaries: boundaries.get(node.id) ?? [],
      };
      const behind = around.outgoing.map((flow) => byId.get(flow.to));
      const wanted = [...around.boundaries.flatMap(wantedOnBorder), ...wantedBy(node, behind)];
      return [
        node.id,
        {
          node,
          inputs: node.inputs ?? [],
          outputs: node.outputs ?? [],
          ...around,
          starts: (starts.get(node.id) ?? []).map((start) => start.id),
          wanted,
          calls: wanted.filter(isNamed).length + (throwsSignal(node) ? 1 : 0),
        },
      ];
    }),
  );
}

const isStart = (node: Node): boolean => node.kind === "start" && !node.triggered;
const isBoundary = (node: Node): node is Boundary => node.kind === "boundary";
const isNamed = ({ awaits }: Wanted): boolean => awaits.on !== "timer";

/** An error is caught where it is thrown: it needs no wait. */
function wantedOnBorder({ id, trigger, interrupting }: Boundary): readonly Wanted[] {
  if (trigger.on === "error") return [];
  return [{ element: id, awaits: trigger, stays: !interrupting }];
}

/** A catch event waits itself; for those behind an event-based gateway the gateway does. */
function wantedBy(node: Node, behind: readonly (Node | undefined)[]): readonly Wanted[] {
  const catchers = node.kind === "event-gateway" ? behind : [node];
  return catchers.flatMap((each) =>
    each?.kind === "catch" ? [{ element: each.id, awaits: each.awaits, stays: false }] : [],
  );
}

function throwsSignal(node: Node): boolean {
  return node.kind === "throw" || (node.kind === "end" && node.end.as === "signal");
}
