import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TaskManifest } from "../functions/settings.ts";
import { bundleText, functionCode } from "./bundle.ts";

/** Handlers of a user's folders, as one module and their manifest. */
export type TaskCode = Readonly<{ code: Uint8Array; manifest: TaskManifest }>;

/**
 * Bundles every handler file of the folders into one module, and reads the settings of each handler
 * from it; `workFolder` is for temporary files. Throws with all problems.
 */
export function bundleTasks(folders: readonly string[], workFolder: string): TaskCode {
  const handlers = handlerFiles(folders);
  const code = bundleText(moduleText(handlers), resolve(folders[0] ?? "."));
  return { code, manifest: describe(code, workFolder) };
}

type HandlerFile = Readonly<{ type: string; path: string }>;

function handlerFiles(folders: readonly string[]): readonly HandlerFile[] {
  const found = new Map<string, HandlerFile>();
  for (const folder of folders.map((name) => resolve(name))) {
    for (const name of readdirSync(folder).filter(isHandlerFile).sort()) {
      const handler = { type: typeOf(name, folder), path: join(folder, name) };
      const twin = found.get(handler.type);
      if (twin !== undefined) throw twice(handler, twin);
      found.set(handler.type, handler);
    }
  }
  return [...found.values()];
}

/** As in the embedded engine: tests and declarations may be in the same folder. */
function isHandlerFile(name: string): boolean {
  return /^[^.].*\.(ts|mjs|js)$/.test(name) && !/\.(d|test|spec)\.(ts|mjs|js)$/.test(name);
}

/** Odd characters of a type are percent-encoded in the file's name. */
function typeOf(name: string, folder: string): string {
  try {
    return decodeURIComponent(name.replace(/\.(ts|mjs|js)$/, ""));
  } catch {
    throw new Error(
      `The name of a task handler is not percent-encoded text (${join(folder, name)}). ` +
        "Name it <type>.ts; write % as %25 and other odd characters as %XX.",
    );
  }
}

function moduleText(handlers: readonly HandlerFile[]): string {
  const imports = handlers.map(({ path }, n) => `import * as t${n} from ${JSON.stringify(path)};`);
  const entries = handlers.map(({ type }, n) => `[${JSON.stringify(type)}]: t${n}["default"],`);
  return [...imports, "export default {", ...entries, "};"].join("\n");
}

/** In a separate process: handlers are user code, and may do anything when loaded. */
function describe(code: Uint8Array, workFolder: string): TaskManifest {
  mkdirSync(workFolder, { recursive: true });
  const tool = join(workFolder, "describe-tasks.mjs");
  const tasks = join(workFolder, "tasks.mjs");
  writeFileSync(tool, functionCode("describe-tasks"));
  writeFileSync(tasks, code);
  const { status, stdout, stderr } = spawnSync(process.execPath, [tool, tasks], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`The task handlers cannot be used. ${stderr.trim()}`);
  return parseManifest(stdout);
}

function parseManifest(text: string): TaskManifest {
  return JSON.parse(text) as TaskManifest;
}

function twice(one: HandlerFile, other: HandlerFile): Error {
  return new Error(
    `The task type "${one.type}" has two handlers (${one.path}, ${other.path}). ` +
      "Rename or remove one of them.",
  );
}
