import { feelExpressions } from "../../../lib/adapters/feelin/feel-expressions.ts";
import type { Compiled } from "../../../lib/definition/definition.ts";
import type { Compilation, Diagnostic } from "../../../lib/definition/diagnostic.ts";
import type { Flow, Graph, Node } from "../../../lib/definition/graph.ts";
import { bpmnCompiler } from "../../../lib/frontends/bpmn/compiler.ts";

/** The compiler as the engine gets it. */
export const compile = bpmnCompiler({ expressions: feelExpressions() });

/** The processes of a file that must compile. */
export async function compiled(source: string): Promise<readonly Compiled[]> {
  const result = await compile(source);
  if (result.ok) return result.processes;
  throw new Error(`refused: ${JSON.stringify(result.diagnostics, null, 2)}`);
}

/** The graph of the one process of a file that must compile. */
export async function graphOf(source: string): Promise<Graph> {
  const [only] = await compiled(source);
  if (only?.body.runner === "graph") return only.body.graph;
  throw new Error("no graph");
}

/** One node of the one process of a file that must compile. */
export async function nodeOf(source: string, id: string): Promise<Node> {
  const node = (await graphOf(source)).nodes.find((one) => one.id === id);
  if (node !== undefined) return node;
  throw new Error(`no node ${id}`);
}

/** One flow of the one process of a file that must compile. */
export async function flowOf(source: string, id: string): Promise<Flow> {
  const flow = (await graphOf(source)).flows.find((one) => one.id === id);
  if (flow !== undefined) return flow;
  throw new Error(`no flow ${id}`);
}

/** The codes of the errors, in the order in which they are reported. */
export async function errorsOf(source: string): Promise<readonly string[]> {
  return codes(await compile(source), "error");
}

/** The codes of the warnings of a file that must compile. */
export async function warningsOf(source: string): Promise<readonly string[]> {
  await compiled(source);
  return codes(await compile(source), "warning");
}

function codes({ diagnostics }: Compilation, severity: Diagnostic["severity"]): readonly string[] {
  return diagnostics.filter((one) => one.severity === severity).map(({ code }) => code);
}
