import type { Compiled } from "../../definition/definition.ts";
import type { Compilation, Compiler, Diagnostic } from "../../definition/diagnostic.ts";
import { MAX_ELEMENT_ID_LENGTH, MAX_PROCESSES_PER_SOURCE } from "../../definition/limits.ts";
import { quoted } from "../../definition/parsed.ts";
import type { Declared, Sandbox } from "../../definition/sandbox.ts";
import { analyseBundle } from "./analyse.ts";
import type { CompilerCode } from "./codes.ts";
import { declarationOf, declarationsOf } from "./declarations.ts";
import { isToldBy, loadBundle, sizeProblem } from "./load-bundle.ts";
import { parseSourceMap, type SourceMap } from "./source-map.ts";

/** What compiling needs of its host. */
export type CodeHost = Readonly<{
  sandbox: Sandbox;
  /** Where the host analyses bundles; right here by default. */
  analyse?: (source: string) => Promise<readonly Diagnostic[]>;
  /** Whether a handler of this installation serves tasks of a type; absent: nobody knows. */
  hasHandler?: (type: string) => boolean;
}>;

/** Compiles a bundle: every workflow that it declares, or every error at once. */
export function codeCompiler(host: CodeHost): Compiler {
  return (source) => compile(host, source);
}

async function compile(host: CodeHost, source: string): Promise<Compilation> {
  const tooLarge = sizeProblem(source);
  if (tooLarge !== undefined) return { ok: false, diagnostics: [tooLarge] };
  const { analyse = analyseBundle } = host;
  const found = await analyse(source);
  // Also where it is refused already: what else is wrong is told at once.
  const bundle = { source, map: parseSourceMap(source) };
  const loaded = await loadBundle(host.sandbox, bundle);
  if (!loaded.ok) {
    const { problem } = loaded;
    return { ok: false, diagnostics: isToldBy(found, problem) ? found : [...found, problem] };
  }
  const { declared } = loaded;
  const diagnostics = [
    ...found,
    ...declaredFlaws(bundle, declared),
    ...unserved(host, bundle, declared),
  ];
  if (diagnostics.some(({ severity }) => severity === "error")) return { ok: false, diagnostics };
  const { engine } = host.sandbox;
  return {
    ok: true,
    diagnostics,
    processes: declared.workflows.map((id) => processOf(id, declared, engine)),
  };
}

/** Everything that its history may often name: itself, the steps of the bundle, timers. */
const processOf = (id: string, { steps }: Declared, engine: string): Compiled => ({
  id,
  notation: "code",
  body: { runner: "code", program: { workflow: id, engine } },
  elements: [...new Set([id, ...steps, "timer"])],
  startEvents: [{ element: id, kind: "none" }],
});

type Bundle = Readonly<{ source: string; map: SourceMap }>;

function declaredFlaws(bundle: Bundle, { workflows }: Declared): readonly Diagnostic[] {
  if (workflows.length === 0) return [NO_WORKFLOW];
  if (workflows.length > MAX_PROCESSES_PER_SOURCE) return [tooMany(workflows.length)];
  const invalid = workflows
    .filter((id) => !isId(id))
    .map((id) => ({ ...invalidId(id), ...declarationOf(bundle, "workflow", id) }));
  const again = new Set(workflows.filter((id, at) => workflows.indexOf(id) < at));
  const duplicates = [...again].map((id) => ({
    ...duplicateId(id),
    ...declarationsOf(bundle, "workflow", id).at(-1),
  }));
  return [...invalid, ...duplicates];
}

/** Ids stand in keys and paths. */
const isId = (id: string): boolean =>
  id.length <= MAX_ELEMENT_ID_LENGTH && /^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u.test(id);

const unserved = (
  { hasHandler }: CodeHost,
  bundle: Bundle,
  { steps }: Declared,
): readonly Diagnostic[] =>
  steps
    .filter((type) => hasHandler && !hasHandler(type))
    .map((type) =>
      flaw("warning", "code/step-without-handler", {
        message: `No handler of this engine runs the step ${quoted(type)}.`,
        ...declarationOf(bundle, "step", type),
        hint: "Export it from a file in `workflows` or `tasks`, or run a worker for this type: until then its tasks wait.",
      }),
    );

const flaw = (
  severity: Diagnostic["severity"],
  code: CompilerCode,
  about: Omit<Diagnostic, "severity" | "code">,
): Diagnostic => ({ severity, code, ...about });

const NO_WORKFLOW = flaw("error", "code/no-workflow", {
  message: "The bundle declares no workflow.",
  hint: 'Export one: export const order = workflow("order", async (input) => { … }).',
});

const tooMany = (count: number): Diagnostic =>
  flaw("error", "code/too-many-workflows", {
    message: `The bundle declares ${count} workflows; the limit is ${MAX_PROCESSES_PER_SOURCE}.`,
    hint: "Split it into several files.",
  });

const invalidId = (id: string): Diagnostic =>
  flaw("error", "code/invalid-id", {
    message: `${quoted(id)} cannot be the id of a workflow.`,
    hint: `Use letters, digits, ".", "_" and "-", begin with a letter or a digit, and at most ${MAX_ELEMENT_ID_LENGTH} characters.`,
  });

const duplicateId = (id: string): Diagnostic =>
  flaw("error", "code/duplicate-id", {
    message: `Two workflows have the id ${quoted(id)}.`,
    hint: "Give one of them another id.",
  });
