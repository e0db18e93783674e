/**
 * Workflows in TypeScript as a library user hands them over: files and folders, which are bundled for
 * the sandbox, and imported here for their steps.
 */
import { type Dirent, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FoundHandler } from "../adapters/handlers/found-handlers.ts";
import type { HandlerRuns } from "../adapters/handlers/handler-runs.ts";
import { parseStep, stepParts } from "../adapters/handlers/step-parts.ts";
import type { Bundled } from "../bundler/bundle-workflows.ts";
import type { BundlerCode } from "../bundler/codes.ts";
import { fileNamer } from "../bundler/diagnostics.ts";
import { followImports } from "../bundler/follow-imports.ts";
import { loadSteps } from "../bundler/load-module.ts";
import { exportsWorkflow, notExported } from "../bundler/not-exported.ts";
import type { Diagnostic } from "../definition/diagnostic.ts";
import { quoted } from "../definition/parsed.ts";
import type { Sandbox, Stop } from "../definition/sandbox.ts";
import type { CompilerCode } from "../frontends/code/codes.ts";
import { declarationsOf } from "../frontends/code/declarations.ts";
import { isToldBy, loadBundle, sizeProblem } from "../frontends/code/load-bundle.ts";
import { parseSourceMap } from "../frontends/code/source-map.ts";
import { EngineError } from "../ports/engine-error.ts";
import { WORKFLOW } from "../workflow/workflow.ts";
import { checkedBundle } from "./checked-bundle.ts";
import { placedBy } from "./place-diagnostics.ts";

/** What one file holds. */
export type WorkflowFile = Readonly<{
  path: string;
  /** For the sandbox; absent where the file declares steps only. */
  bundle?: string;
  /** The ids of the workflows that it exports. */
  workflows: readonly string[];
  handlers: readonly FoundHandler[];
  warnings: readonly Diagnostic[];
  /** Every file that it was made from. */
  inputs: readonly string[];
}>;

/** A file that cannot be used, and why. */
export type BrokenFile = Readonly<{
  path: string;
  problems: readonly Diagnostic[];
  inputs: readonly string[];
}>;

/** What is known of a file before any of it runs in this process. */
export type CheckedFile = Readonly<{
  path: string;
  bundled: Bundled;
  /** Why the module scope of its bundle fails, or cannot run. */
  failed?: Diagnostic;
  /** Its module scope would not come to its end in this process either. */
  isEndless: boolean;
}>;

/**
 * Bundles a file and runs its module scope in the sandbox, which stops one that does not end. In
 * this process nothing could.
 */
export async function checkWorkflowFile(path: string, sandbox: Sandbox): Promise<CheckedFile> {
  const bundled = await checkedBundle(path);
  const { source } = bundled;
  if (source === undefined || bundled.diagnostics.some(isUnknownImport)) {
    return { path, bundled, isEndless: false };
  }
  const tooLarge = sizeProblem(source);
  if (tooLarge !== undefined) {
    return { path, bundled, failed: placedBy(path, tooLarge), isEndless: false };
  }
  const loaded = await loadBundle(sandbox, { source, map: parseSourceMap(source) });
  if (loaded.ok) return { path, bundled, isEndless: false };
  const isEndless = loaded.stopped !== undefined && ENDLESS.has(loaded.stopped);
  return { path, bundled, failed: placedBy(path, loaded.problem), isEndless };
}

/** Neither the bundle nor the file itself could be loaded. */
const isUnknownImport = ({ code }: Diagnostic): boolean =>
  code === ("code/unknown-import" satisfies BundlerCode);

const ENDLESS: ReadonlySet<Stop> = new Set(["fuel", "jobs", "deadline"]);

/** Imports a file, unless it has workflows and its module scope could not run in the sandbox. */
export async function loadWorkflowFile(
  checked: CheckedFile,
  { runs, generation }: Readonly<{ runs: HandlerRuns; generation: number }>,
): Promise<WorkflowFile | BrokenFile> {
  const { path, bundled, failed } = checked;
  const isUnknown = bundled.diagnostics.some(isUnknownImport);
  const hasRun = bundled.source !== undefined && failed === undefined;
  if (isUnknown || (!hasRun && exportsWorkflow(path))) return unimportedFile(checked);
  const host = await loadSteps(path, { generation });
  if (!host.ok) return brokenFile(checked, host);
  const exported = Object.values(host.module);
  const handlers = exported.flatMap((value) => handlerOf(value, path, runs));
  const workflows = exported.flatMap(workflowId);
  if (workflows.length === 0) {
    const warnings = notExported(path, fileNamer(dirname(path)));
    return { path, workflows, handlers, warnings, inputs: host.inputs };
  }
  const inputs = [...new Set([...host.inputs, ...bundled.inputs])];
  if (!bundled.ok) return { path, problems: bundled.diagnostics, inputs };
  const { source: bundle, diagnostics: warnings } = bundled;
  return { path, bundle, workflows, handlers, warnings, inputs };
}

/** What is wrong with a file that is not imported. */
export async function unimportedFile(checked: CheckedFile): Promise<BrokenFile> {
  const { path, bundled, failed, isEndless } = checked;
  const { inputs, errors } = await followImports(path, fileNamer(dirname(path)));
  const isDeployed = exportsWorkflow(path);
  // A file that only has steps need not be one that can be bundled.
  const diagnostics = bundled.diagnostics.filter((found) => isDeployed || isUnknownImport(found));
  const broken = brokenFile(
    { path, bundled: { ...bundled, diagnostics } },
    { inputs, diagnostics: errors },
  );
  const isTold = !(isDeployed || isEndless) || failed === undefined;
  if (isTold || isToldBy(broken.problems, failed)) return broken;
  return { ...broken, problems: [...broken.problems, failed] };
}

/** A file that cannot be imported may have other problems, which are told as well. */
function brokenFile(
  { path, bundled }: Pick<CheckedFile, "path" | "bundled">,
  host: Pick<BrokenFile, "inputs"> & Found,
): BrokenFile {
  const known = new Set(host.diagnostics.map(placeOf));
  const others = bundled.diagnostics.filter((found) => !known.has(placeOf(found)));
  const inputs = [...new Set([...host.inputs, ...bundled.inputs])];
  return { path, problems: [...host.diagnostics, ...others], inputs };
}

type Found = Readonly<{ diagnostics: readonly Diagnostic[] }>;

const placeOf = ({ code, file, line }: Diagnostic): string => JSON.stringify([code, file, line]);

/** The files of a folder in order of their names, or the file itself. */
export function workflowFilesAt(path: string): readonly string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    return readdirSync(path, { withFileTypes: true })
      .filter(isWorkflowFile)
      .map(({ name }) => join(path, name))
      .toSorted();
  } catch (cause) {
    throw new EngineError("engine/misconfigured", {
      happened: "The workflows cannot be read",
      where: path,
      fix: "Name a folder or a file that exists.",
      cause,
    });
  }
}

/** Declarations and tests may be in the same folder; hidden files are none of ours. */
const isWorkflowFile = (entry: Dirent): boolean =>
  !entry.isDirectory() &&
  /^[^.].*\.(ts|mts|js|mjs)$/.test(entry.name) &&
  !/\.(d|test|spec)\.(ts|mts|js|mjs)$/.test(entry.name);

const workflowId = (value: unknown): readonly string[] =>
  typeof value === "object" && value !== null && WORKFLOW in value ? [String(value[WORKFLOW])] : [];

/** Of two files with the same workflow, each would replace the other whenever the engine opens. */
export function twiceExported(files: readonly WorkflowFile[]): readonly Diagnostic[] {
  const firsts = new Map<string, WorkflowFile>();
  return files.flatMap((file) =>
    [...new Set(file.workflows)].flatMap((id) => {
      const first = firsts.get(id) ?? file;
      firsts.set(id, first);
      return first === file ? [] : [exportedTwice(id, first, file)];
    }),
  );
}

function exportedTwice(id: string, first: WorkflowFile, second: WorkflowFile): Diagnostic {
  const { file, line } = declarationIn(first, id);
  return {
    severity: "error",
    code: "code/duplicate-id" satisfies CompilerCode,
    message: `Two files export the workflow ${quoted(id)}: this one and ${file}${line === undefined ? "" : `:${line}`}.`,
    ...declarationIn(second, id),
    hint: "Export it from one of them, or give the other one another id.",
  };
}

type Place = Pick<Diagnostic, "file" | "line" | "column">;

/** Where a file has a workflow from; the file itself where its id is computed. */
function declarationIn({ path, bundle = "" }: WorkflowFile, id: string): Place {
  const map = parseSourceMap(bundle);
  const [origin] = declarationsOf({ source: bundle, map }, "workflow", id);
  return placedBy(path, origin ?? {});
}

/** The step that a file exports, as a handler. */
function handlerOf(exported: unknown, source: string, runs: HandlerRuns): readonly FoundHandler[] {
  const parts = stepParts(exported);
  if (parts === undefined) return [];
  const handler = parseStep(parts, runs);
  if (!handler.ok) throw new Error(`${source}: ${handler.problem} ${handler.hint}`);
  return [{ type: parts.type, source, exported, handler: handler.value }];
}

/** The workflows of all files are refused together. */
export function refusedWorkflows(problems: readonly Diagnostic[]): EngineError {
  const errors = problems.filter(({ severity }) => severity === "error");
  const [first] = errors;
  return new EngineError("definition/invalid", {
    happened: `The workflows cannot be used: ${errors.length} ${errors.length === 1 ? "problem" : "problems"}, the first: ${first?.message ?? ""}`,
    where: first === undefined ? "workflows" : `${first.file ?? "workflows"}:${first.line ?? 1}`,
    fix: "Fix every problem that is listed; nothing was stored.",
    details: problems,
  });
}
