import type { Definition } from "../../definition/definition.ts";
import type { Flow, Graph, Mapping, Node } from "../../definition/graph.ts";

/** A graph with everything at hand that a move along it asks for; made once per definition. */
export type Plan = Readonly<{ root: string; spots: ReadonlyMap<string, Spot> }>;

/** A node and its surroundings. Flows and boundaries stand in the order of the source. */
export type Spot = Readonly<{
  node: Node;
  inputs: readonly Mapping[];
  outputs: readonly Mapping[];
  incoming: readonly Flow[];
  outgoing: readonly Flow[];
  /** Where control begins inside, when this is a scope and nothing says otherwise. */
  starts: readonly string[];
  boundaries: readonly Boundary[];
}>;

export type Boundary = Extract<Node, { kind: "boundary" }>;

/** Prepares a graph for running. */
export function planOf(definition: Definition): Plan {
  const { body, id } = definition;
  if (body.runner !== "graph") {
    throw new Error(`Definition ${id} is for the runner "${body.runner}", not for the graph's.`);
  }
  return { root: id, spots: spotsOf(body.graph) };
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

function spotsOf({ nodes, flows }: Graph): ReadonlyMap<string, Spot> {
  const incoming = Map.groupBy(flows, (flow) => flow.to);
  const outgoing = Map.groupBy(flows, (flow) => flow.from);
  const starts = Map.groupBy(nodes.filter(isStart), (node) => node.scope);
  const boundaries = Map.groupBy(nodes.filter(isBoundary), (node) => node.on);
  return new Map(
    nodes.map((node) => [
      node.id,
      {
        node,
        inputs: node.inputs ?? [],
        outputs: node.outputs ?? [],
        incoming: incoming.get(node.id) ?? [],
        outgoing: outgoing.get(node.id) ?? [],
        starts: (starts.get(node.id) ?? []).map((start) => start.id),
        boundaries: boundaries.get(node.id) ?? [],
      },
    ]),
  );
}

const isStart = (node: Node): boolean => node.kind === "start" && !node.triggered;
const isBoundary = (node: Node): node is Boundary => node.kind === "boundary";
