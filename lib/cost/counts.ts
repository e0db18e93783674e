import type { Compiled } from "../definition/definition.ts";
import type { Node } from "../definition/graph.ts";
import type { HistoryEntry } from "../shapes/instances.ts";

/** The work of an instance, in the units that engines are billed by. */
export type Counts = Readonly<{
  /** What advanced it: tasks, failed attempts, timers, signals, messages, events. */
  steps: number;
  /** Runs of task handlers, failed ones included. */
  attempts: number;
  /** Steps that it waited for outside any function. */
  waits: number;
  /** States that an equivalent state machine would have entered. */
  states: number;
}>;

/** Counts the history of an instance of this process. */
export function countSteps(history: readonly HistoryEntry[], { body }: Compiled): Counts {
  const count = (types: ReadonlySet<string>) =>
    history.filter(({ type }) => types.has(type)).length;
  const attempts = count(ATTEMPTS);
  const waits = count(WAITS);
  const graph = body.runner === "graph" ? body.graph : { nodes: [], flows: [] };
  const branching = new Set(
    graph.nodes
      .filter(({ id }) => graph.flows.filter(({ from }) => from === id).length > 1)
      .map(({ id }) => id),
  );
  const states = new Set(
    graph.nodes.filter((node) => isState(node, branching)).map(({ id }) => id),
  );
  const entered = history.filter(
    ({ type, element = "" }) => type === "element-entered" && states.has(element),
  );
  const failures = count(FAILURES);
  return { steps: attempts + waits, attempts, waits, states: entered.length + failures };
}

const FAILURES: ReadonlySet<string> = new Set(["task-failed"]);
const ATTEMPTS: ReadonlySet<string> = new Set(["task-completed", "task-failed"]);
const WAITS: ReadonlySet<string> = new Set([
  "timer-due",
  "signal-received",
  "message-received",
  "event-received",
]);

/**
 * Gateways count if they branch, as Choice and Parallel states; starts, ends and joins never count.
 */
function isState({ kind, id }: Node, branching: ReadonlySet<string>): boolean {
  switch (kind) {
    case "task":
    case "call":
    case "script":
    case "catch":
    case "throw":
      return true;
    case "exclusive":
    case "parallel":
    case "event-gateway":
      return branching.has(id);
    case "process":
    case "start":
    case "end":
    case "scope":
    case "pass":
    case "boundary":
      return false;
  }
}
