/** Reloads the code of a running engine when its files are saved. */
import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname } from "node:path";
import type { HandlerRuns } from "../adapters/handlers/handler-runs.ts";
import type { Diagnostic } from "../definition/diagnostic.ts";
import type { Sandbox } from "../definition/sandbox.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { TaskHandler } from "../ports/tasks.ts";
import { allWarnings, deployBundles } from "./deploy-bundles.ts";
import type { LibraryCalls } from "./library-calls.ts";
import { givenPaths, taskFolders } from "./options.ts";
import type { Reload } from "./reload.ts";
import { type GivenCode, type LoadedCode, loadUserCode, type UserCode } from "./user-code.ts";

type Watched = Readonly<{
  given: GivenCode;
  runs: HandlerRuns;
  sandbox: Sandbox;
  engine: Pick<LibraryCalls, "deploy" | "validate">;
  /** The engine's own; handlers of user code are put in. */
  handlers: Map<string, TaskHandler>;
  /** What was loaded when the engine was opened. */
  loaded: Extract<LoadedCode, { ok: true }>;
  onReload: (reload: Reload) => void;
}>;

/** Watches until it is told to stop. */
export function watchCode(watched: Watched): () => void {
  const { given, onReload } = watched;
  let { code, inputs } = watched.loaded;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isStopped = false;
  let refusedBefore = "";

  const reload = async (): Promise<void> => {
    const before = code;
    generation += 1;
    const loaded = await loadUserCode(given, {
      runs: watched.runs,
      sandbox: watched.sandbox,
      isWatched: true,
      generation,
      before,
    });
    inputs = loaded.inputs;
    // What was saved on the way may be in the steps and not yet in the bundles.
    if (loaded.ok && !loaded.code.isSettled) {
      later();
      return;
    }
    const result = loaded.ok ? await apply(loaded.code, before, watched) : refusal(loaded.errors);
    if (loaded.ok && result.kind !== "refused") code = loaded.code;
    tell(result, isSameText(code, before));
  };
  const tell = (result: Reload, isSame: boolean): void => {
    if (isStopped) return;
    const refused = result.kind === "refused" ? JSON.stringify(result) : "";
    // One save causes several events, and only the first of them finds something new.
    const isKnown = result.kind === "unchanged" ? isSame : result.kind === "refused";
    if (!isKnown || refused !== refusedBefore) onReload(result);
    refusedBefore = refused;
  };
  const run = (): void => {
    timer = undefined;
    if (isStopped) return;
    // A reload that is under way may have read the old text: another follows it.
    if (running !== undefined) {
      later();
      return;
    }
    running = reload()
      .catch((error: unknown) => {
        tell(refusal([error]), false);
      })
      .finally(() => {
        running = undefined;
        // Something may have been saved in a new folder before it was watched.
        if (!isStopped && folders.watch(foldersOf(given, inputs))) later();
      });
  };
  const later = (): void => {
    timer ??= setTimeout(run, DEBOUNCE_MS);
  };
  const folders = new FolderWatch(later);
  folders.watch(foldersOf(given, inputs));
  // What was saved after it was loaded and before it is watched.
  later();
  return () => {
    isStopped = true;
    clearTimeout(timer);
    folders.watch([]);
  };
}

/** A save is several events, which come within a few milliseconds. */
const DEBOUNCE_MS = 30;

/** Of the whole process, since its modules are, too. */
let generation = 0;

/** Puts new code to use, unless a workflow is refused. */
async function apply(
  code: UserCode,
  before: UserCode,
  { engine, handlers }: Watched,
): Promise<Reload> {
  const bundles = [...code.files.values()].flatMap(({ made: { path, bundle } }) =>
    bundle === undefined || before.files.get(path)?.made.bundle === bundle
      ? []
      : [{ path, bundle }],
  );
  const replaced = changedHandlers(code, before);
  const old = new Map(handlers);
  for (const type of replaced) handlers.set(type, code.handlers.get(type) as TaskHandler);
  try {
    const result = await deployBundles(engine, bundles);
    if (!result.ok) {
      restore(handlers, old);
      return { kind: "refused", diagnostics: result.diagnostics };
    }
    const { deployed } = result;
    const removed = [...before.files.keys()].filter((path) => !code.files.has(path));
    if (deployed.length + replaced.length + removed.length === 0) return { kind: "unchanged" };
    const warnings = allWarnings(newWarnings(code, before), result.warnings);
    return { kind: "reloaded", deployed, handlers: replaced, removed, warnings };
  } catch (error) {
    restore(handlers, old);
    throw error;
  }
}

function restore(handlers: Map<string, TaskHandler>, old: ReadonlyMap<string, TaskHandler>): void {
  for (const type of [...handlers.keys()]) {
    const handler = old.get(type);
    if (handler === undefined) handlers.delete(type);
    else handlers.set(type, handler);
  }
}

/** A module that was loaded anew exports new functions, even if they are the same text. */
function changedHandlers(code: UserCode, before: UserCode): readonly string[] {
  const old = new Map(before.found.map(({ type, exported }) => [type, exported]));
  const changed = code.found.filter(({ type, exported }) => old.get(type) !== exported);
  return [...new Set(changed.map(({ type }) => type))];
}

const isSameText = (code: UserCode, before: UserCode): boolean =>
  code.tasks.looks === before.tasks.looks &&
  code.files.size === before.files.size &&
  [...code.files].every(([path, { looks }]) => before.files.get(path)?.looks === looks);

/** The warnings of the files that have changed: those of the others were told before. */
const newWarnings = ({ files }: UserCode, before: UserCode): readonly Diagnostic[] =>
  [...files].flatMap(([path, { made, looks }]) =>
    before.files.get(path)?.looks === looks ? [] : made.warnings,
  );

function refusal(errors: readonly unknown[]): Reload {
  return { kind: "refused", diagnostics: errors.flatMap(diagnosticsOf) };
}

/** What is wrong with workflows has its places; everything else is told by its error. */
function diagnosticsOf(error: unknown): readonly Diagnostic[] {
  if (
    error instanceof EngineError &&
    error.code === "definition/invalid" &&
    error.details.length > 0
  ) {
    return error.details as readonly Diagnostic[];
  }
  const code = error instanceof EngineError ? error.code : "code/load-failed";
  const message = error instanceof Error ? error.message : String(error);
  return [{ severity: "error", code, message, hint: "Fix it and save the file again." }];
}

/** The folders that something may be saved in. */
function foldersOf(given: GivenCode, inputs: readonly string[]): readonly string[] {
  const named = givenPaths(given.workflows).flatMap((path) => [path, dirname(path)]);
  const tasks = taskFolders(given.tasks);
  return [...new Set([...named, ...tasks, ...inputs.map((path) => dirname(path))])];
}

/** Watches folders, not files: a file that is replaced is another one. */
class FolderWatch {
  readonly #watchers = new Map<string, Readonly<{ watcher: FSWatcher; inode: number }>>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches these, and no others; true if one of them is new. */
  watch(folders: readonly string[]): boolean {
    for (const [folder, { watcher, inode }] of this.#watchers) {
      if (folders.includes(folder) && inode === inodeOf(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    const added = folders.filter((folder) => !this.#watchers.has(folder));
    return added.map((folder) => this.#add(folder)).includes(true);
  }

  #add(folder: string): boolean {
    const inode = inodeOf(folder);
    if (inode === undefined) return false;
    const watcher = watch(folder, { persistent: false }, (_, name) => {
      if (name === null || CODE_OR_FOLDER.test(name)) this.#onChange();
    });
    // A folder that is removed, and comes back, is noticed by the one that it is in.
    watcher.on("error", () => {});
    this.#watchers.set(folder, { watcher, inode });
    return true;
  }
}

const CODE_OR_FOLDER = /\.(?:[cm]?[jt]sx?|json)$|^[^.]*$/;

function inodeOf(folder: string): number | undefined {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() ? found.ino : undefined;
}
