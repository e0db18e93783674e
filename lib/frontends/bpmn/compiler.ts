import type { Compiled } from "../../definition/definition.ts";
import type { Compilation, Compiler } from "../../definition/diagnostic.ts";
import type { Expressions } from "../../definition/expression.ts";
import type { Graph } from "../../definition/graph.ts";
import { MAX_PROCESSES_PER_SOURCE, MAX_SOURCE_BYTES } from "../../definition/limits.ts";
import { quoted } from "../../definition/parsed.ts";
import { versionTagOf } from "./call-activities.ts";
import type { Context } from "./context.ts";
import { flowsOf } from "./flows.ts";
import { indexIds } from "./ids.ts";
import { MAX_TRIGGERED_STARTS } from "./limits.ts";
import { endlessLoops } from "./loops.ts";
import { nodesOf } from "./nodes.ts";
import { type Outline, outline } from "./outline.ts";
import { reportProfile } from "./profile.ts";
import { unreachable } from "./reach.ts";
import { type Report, startReport } from "./report.ts";
import { booleanOf, called, childrenOf, definitionsOf, idOf, nameOf } from "./source.ts";
import { startEventsOf } from "./starts.ts";
import { timeZoneOf } from "./timers.ts";
import { checkNamed, refuseBoolean, refuseProcessExtensions } from "./unsupported.ts";
import { formIdsOf } from "./user-tasks.ts";
import { readXml, type XmlElement } from "./xml.ts";

/** Compiles BPMN 2.0 with the zeebe extensions: every executable process of the file, or none. */
export function bpmnCompiler({ expressions }: Readonly<{ expressions: Expressions }>): Compiler {
  return (source) => compile(source, expressions);
}

async function compile(source: string, expressions: Expressions): Promise<Compilation> {
  const bytes = new TextEncoder().encode(source).length;
  if (bytes > MAX_SOURCE_BYTES) return tooLarge(bytes);
  const reading = readXml(source);
  if (!reading.ok) {
    const { code, line, message, hint } = reading;
    return { ok: false, diagnostics: [{ severity: "error", code, line, message, hint }] };
  }
  const report = startReport();
  const processes = await compileFile(reading.root, expressions, report);
  const diagnostics = report.diagnostics();
  return report.hasErrors() ? { ok: false, diagnostics } : { ok: true, processes, diagnostics };
}

function tooLarge(bytes: number): Compilation {
  const message = `The file has ${bytes} bytes; the limit is ${MAX_SOURCE_BYTES}.`;
  const hint = "Split it into several files, or remove embedded images and unused diagrams.";
  return {
    ok: false,
    diagnostics: [{ severity: "error", code: "bpmn/too-large", message, hint }],
  };
}

async function compileFile(
  root: XmlElement,
  expressions: Expressions,
  report: Report,
): Promise<readonly Compiled[]> {
  if (root.name !== "bpmn:definitions") {
    report.refuse({
      code: "bpmn/not-bpmn",
      at: root,
      message: `The root element is <${root.name.slice(0, 60)}>, not <definitions> of BPMN 2.0.`,
      hint: 'Send a BPMN file: <definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">.',
    });
    return [];
  }
  const all = childrenOf(root, "bpmn:process");
  for (const process of all) {
    if (booleanOf(process, "isExecutable", false) !== undefined) continue;
    refuseBoolean(process, "isExecutable", report);
  }
  const executable = all.filter((process) => booleanOf(process, "isExecutable", false) === true);
  if (executable.length === 0) {
    report.refuse({
      code: "bpmn/no-executable-process",
      at: root,
      message: "The file has no executable process.",
      hint: 'Set isExecutable="true" on the process that shall run.',
    });
  }
  if (executable.length > MAX_PROCESSES_PER_SOURCE) {
    report.refuse({
      code: "bpmn/too-many-processes",
      at: root,
      message: `The file has ${executable.length} executable processes; the limit is ${MAX_PROCESSES_PER_SOURCE}.`,
      hint: "Split it into several files.",
    });
  }
  reportProfile(root, report);
  for (const name of ["bpmn:signal", "bpmn:message"]) {
    for (const named of childrenOf(root, name)) checkNamed(named, report);
  }
  const relevant = root.children.filter(
    (child) => child.name !== "bpmn:process" || executable.includes(child),
  );
  const byId = indexIds(relevant, report);
  if (hasTooManyStarts(root, executable, report)) return [];
  // References may be qualified names; the prefix means the file itself.
  const find = (reference: string) =>
    byId.get(reference) ?? byId.get(reference.slice(reference.indexOf(":") + 1));
  const compiled: Compiled[] = [];
  for (const process of executable) {
    compiled.push(...(await compileProcess(process, { report, expressions, find })));
  }
  return compiled;
}

/** Whether there are more names to compute than one deployment may have. */
function hasTooManyStarts(
  root: XmlElement,
  processes: readonly XmlElement[],
  report: Report,
): boolean {
  const starts = processes.flatMap((process) => childrenOf(process, "bpmn:startEvent"));
  const triggered = starts.filter((start) => definitionsOf(start).length > 0).length;
  if (triggered <= MAX_TRIGGERED_STARTS) return false;
  report.refuse({
    code: "bpmn/too-many-starts",
    at: root,
    message: `The file has ${triggered} start events with a definition; the limit is ${MAX_TRIGGERED_STARTS}.`,
    hint: "Split it into several files, or let one message tell by its payload what has happened.",
  });
  return true;
}

async function compileProcess(process: XmlElement, given: Context): Promise<readonly Compiled[]> {
  const zone = timeZoneOf(process, given.report);
  const forms = formIdsOf(process);
  const context: Context = { ...given, forms, ...(zone !== undefined && { zone }) };
  refuseProcessExtensions(process, context.report);
  const tagged = versionTagOf(process, context.report);
  const laidOut = outline(process, context);
  const startEvents = await startEventsOf(laidOut, context);
  const graph: Graph = { nodes: nodesOf(laidOut, context), flows: flowsOf(laidOut, context) };
  checkLoops(graph, scopesWithGaps(laidOut, graph), context);
  // Unreachable elements after a broken flow would only add noise to the error.
  if (context.report.hasErrors()) return [];
  warnUnreachable(graph, context);
  return [
    {
      id: idOf(process),
      notation: "bpmn",
      ...nameOf(process),
      ...tagged,
      body: { runner: "graph", graph },
      elements: laidOut.ids,
      startEvents,
    },
  ];
}

/** Scopes in which an element was refused, so that the graph does not show all their elements. */
function scopesWithGaps({ places }: Outline, { nodes }: Graph): ReadonlySet<string> {
  const compiled = new Set(nodes.map(({ id }) => id));
  const gaps = places.filter(({ id }) => !compiled.has(id));
  return new Set(gaps.flatMap(({ scope }) => scope?.id ?? []));
}

function checkLoops(graph: Graph, unknown: ReadonlySet<string>, { find, report }: Context): void {
  for (const loop of endlessLoops(graph, unknown)) {
    const at = find(loop[0] ?? "");
    if (at === undefined) continue;
    report.refuse({
      code: "bpmn/endless-loop",
      at,
      message: `${called(at)} is in a loop that nothing can end: ${loop.slice(0, 5).map(quoted).join(", ")}.`,
      hint: "Put an element into the loop that waits, such as a service task or a timer, or a choice that leads out.",
    });
  }
}

function warnUnreachable(graph: Graph, { find, report }: Context): void {
  for (const id of unreachable(graph)) {
    const at = find(id);
    if (at === undefined) continue;
    report.warn({
      code: "bpmn/unreachable-element",
      at,
      message: `${called(at)} is never reached.`,
      hint: "Lead a sequence flow to it, or remove it.",
    });
  }
}
