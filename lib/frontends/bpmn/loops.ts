// Loops that would never end.
// 1. Straight-through elements never wait: plain and manual tasks, throw events, scripts, gateways
//    that join nothing and choose without an event, and sub-processes made of these.
// 2. A loop of such elements in which no variable changes takes the same flows for ever.
// 3. One that does change variables is also endless if it contains no choice.

import type { Flow, Graph, Node } from "../../definition/graph.ts";

/**
 * The loops that would never end, each as the ids of its elements. `unknown` are scopes with
 * refused content: whether they wait is unknown.
 */
export function endlessLoops(
  graph: Graph,
  unknown: ReadonlySet<string>,
): readonly (readonly string[])[] {
  const straight = straightNodes(graph, unknown);
  const changing = new Set([...straight].filter(([, node]) => node.changes).map(([id]) => id));
  const leaving = Map.groupBy(graph.flows, ({ from }) => from);
  const isChoice = ({ id, kind }: Node) =>
    kind === "exclusive" && (leaving.get(id)?.length ?? 0) > 1;
  const choices = new Set(graph.nodes.filter(isChoice).map(({ id }) => id));
  const unchanging = cyclesWithin((id) => straight.has(id) && !changing.has(id), graph);
  const unchoosing = cyclesWithin((id) => straight.has(id) && !choices.has(id), graph);
  return grouped(new Set([...unchanging, ...unchoosing]), graph);
}

type Straight = Readonly<{ changes: boolean }>;

/** Scopes come before their content in the graph, so in reverse order content comes first. */
function straightNodes(
  { nodes, flows }: Graph,
  unknown: ReadonlySet<string>,
): ReadonlyMap<string, Straight> {
  const arriving = Map.groupBy(flows, ({ to }) => to);
  const straight = new Map<string, Straight>();
  const waiting = new Set(unknown);
  const changing = new Set<string>();
  for (const node of nodes.toReversed()) {
    const joins = (arriving.get(node.id)?.length ?? 0) > 1;
    const waits = waiting.has(node.id) || mayWait(node, joins);
    const changes = changing.has(node.id) || mayChange(node);
    if (!waits) straight.set(node.id, { changes });
    if (node.scope === undefined) continue;
    if (waits) waiting.add(node.scope);
    if (changes) changing.add(node.scope);
  }
  return straight;
}

function mayWait(node: Node, joins: boolean): boolean {
  switch (node.kind) {
    case "task":
    case "call":
    case "catch":
    case "event-gateway":
    case "process":
      return true;
    case "end":
      // Terminating ends the scope as well; only an error leaves it another way.
      return node.end.as === "error";
    case "parallel":
      return joins;
    case "start":
    case "script":
    case "throw":
    case "exclusive":
    case "scope":
    case "pass":
    case "boundary":
      return false;
  }
}

function mayChange({ kind, inputs, outputs, loop }: Node): boolean {
  const gathers = loop?.output !== undefined;
  return kind === "script" || inputs !== undefined || outputs !== undefined || gathers;
}

/** What is left after repeatedly removing everything without an incoming or an outgoing flow. */
function cyclesWithin(includes: (id: string) => boolean, graph: Graph): ReadonlySet<string> {
  const flows = graph.flows.filter(({ from, to }) => includes(from) && includes(to));
  const forward = trimmed(flows);
  return trimmed(forward.map((flow) => ({ ...flow, from: flow.to, to: flow.from }))).reduce(
    (ids, { from, to }) => ids.add(from).add(to),
    new Set<string>(),
  );
}

/** The flows that are part of, or follow, a cycle. */
function trimmed(flows: readonly Flow[]): readonly Flow[] {
  const leaving = Map.groupBy(flows, ({ from }) => from);
  const arrivals = new Map<string, number>();
  for (const { to } of flows) arrivals.set(to, (arrivals.get(to) ?? 0) + 1);
  const loose = [...leaving.keys()].filter((id) => !arrivals.has(id));
  const removed = new Set(loose);
  for (let id = loose.pop(); id !== undefined; id = loose.pop()) {
    for (const { to } of leaving.get(id) ?? []) {
      const left = (arrivals.get(to) ?? 0) - 1;
      arrivals.set(to, left);
      if (left > 0) continue;
      loose.push(to);
      removed.add(to);
    }
  }
  return flows.filter(({ from, to }) => !removed.has(from) && !removed.has(to));
}

/** Splits elements into groups that flows connect. */
function grouped(
  ids: ReadonlySet<string>,
  { nodes, flows }: Graph,
): readonly (readonly string[])[] {
  const inside = flows.filter(({ from, to }) => ids.has(from) && ids.has(to));
  const leaving = Map.groupBy(inside, ({ from }) => from);
  const arriving = Map.groupBy(inside, ({ to }) => to);
  const groups: string[][] = [];
  const seen = new Set<string>();
  for (const { id } of nodes) {
    if (!ids.has(id) || seen.has(id)) continue;
    const group: string[] = [];
    const open = [id];
    seen.add(id);
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      group.push(at);
      const after = (leaving.get(at) ?? []).map(({ to }) => to);
      const before = (arriving.get(at) ?? []).map(({ from }) => from);
      for (const next of [...after, ...before]) {
        if (seen.has(next)) continue;
        seen.add(next);
        open.push(next);
      }
    }
    groups.push(group);
  }
  return groups;
}
