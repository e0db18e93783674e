import type { Graph } from "../../definition/graph.ts";

/** The ids of the nodes that no token can ever reach, in document order. */
export function unreachable({ nodes, flows }: Graph): readonly string[] {
  const leaving = Map.groupBy(flows, ({ from }) => from);
  const inside = Map.groupBy(nodes, ({ scope }) => scope);
  const attached = Map.groupBy(
    nodes.flatMap((node) => (node.kind === "boundary" ? [node] : [])),
    ({ on }) => on,
  );
  const reached = new Set<string>();
  const open = nodes.slice(0, 1).map(({ id }) => id);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    open.push(...(leaving.get(id) ?? []).map(({ to }) => to));
    open.push(...(attached.get(id) ?? []).map((boundary) => boundary.id));
    for (const node of inside.get(id) ?? []) if (node.kind === "start") open.push(node.id);
  }
  return nodes.map(({ id }) => id).filter((id) => !reached.has(id));
}
