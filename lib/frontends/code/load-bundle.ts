import type { Diagnostic } from "../../definition/diagnostic.ts";
import { MAX_LOST_TRIES, MAX_SOURCE_BYTES } from "../../definition/limits.ts";
import type { Declared, Loaded, LoadProblem, Sandbox, Stop } from "../../definition/sandbox.ts";
import type { CompilerCode } from "./codes.ts";
import { mapStack } from "./map-stack.ts";
import type { SourceMap } from "./source-map.ts";

/** What a bundle declares, or why it cannot be loaded. */
export type LoadedBundle = Readonly<
  { ok: true; declared: Declared } | { ok: false; problem: Diagnostic; stopped?: Stop }
>;

/** Runs the module scope of a bundle in the sandbox. */
export async function loadBundle(
  sandbox: Sandbox,
  { source, map }: Readonly<{ source: string; map: SourceMap }>,
): Promise<LoadedBundle> {
  const loaded = await loadUntilNotLost(sandbox, source);
  if (loaded.ok) return { ok: true, declared: loaded.program.declared };
  const { stopped } = loaded.problem;
  const problem = loadFailed(loaded.problem, map);
  return { ok: false, problem, ...(stopped !== undefined && { stopped }) };
}

/** Another workflow may end the thread of the sandbox: that is no fault of this bundle. */
async function loadUntilNotLost(sandbox: Sandbox, source: string): Promise<Loaded> {
  for (let tries = 1; ; tries++) {
    const loaded = await sandbox.load(source);
    const isLost = !loaded.ok && loaded.problem.stopped === "lost";
    if (!isLost || tries >= MAX_LOST_TRIES) return loaded;
  }
}

/** Whether an error that was found before is what the module scope throws. */
export function isToldBy(found: readonly Diagnostic[], failed: Diagnostic): boolean {
  const threw: CompilerCode = "code/load-threw";
  if (failed.code !== threw) return false;
  return found.some(
    ({ severity, file, line }) =>
      severity === "error" &&
      (failed.line === undefined || (failed.file === file && failed.line === line)),
  );
}

/** Nothing runs or reads a bundle that is larger than the limit. */
export function sizeProblem(source: string): Diagnostic | undefined {
  const bytes = new TextEncoder().encode(source).length;
  if (bytes <= MAX_SOURCE_BYTES) return undefined;
  return {
    severity: "error",
    code: "code/too-large" satisfies CompilerCode,
    message: `The bundle has ${bytes} bytes; the limit is ${MAX_SOURCE_BYTES}.`,
    hint: "Import less into the workflow: what only steps need does not enter the bundle.",
  };
}

/** The module scope of the bundle threw, or did not come to its end. */
function loadFailed({ message, stack, stopped }: LoadProblem, map: SourceMap): Diagnostic {
  const place = stack === undefined ? undefined : mapStack(stack, map).first;
  const code: CompilerCode = stopped === undefined ? "code/load-threw" : "code/load-stopped";
  return {
    severity: "error",
    code,
    message: `The module scope of the bundle failed: ${message}`,
    ...place,
    hint:
      stopped === undefined
        ? "Module scope runs once, without I/O: declare steps and workflows there, and compute inside them."
        : "Module scope must end quickly and stay small: compute inside a workflow or a step.",
  };
}
