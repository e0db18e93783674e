import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Stage } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import { type Construct, Node } from "constructs";
import type { TaskManifest } from "../functions/settings.ts";
import { type FunctionName, functionCode } from "./bundle.ts";
import { bundleTasks, type TaskCode } from "./task-code.ts";

/** Builds the code of an installation's functions: the engine's, and beside it the user's tasks. */
export class FunctionCode {
  /** Rebuilt with each synthesis, beside the templates that reference it. */
  readonly #folder: string;
  readonly #tasks: TaskCode | undefined;
  readonly #manifest: TaskManifest;

  constructor(scope: Construct, folders: readonly string[], elsewhere: TaskManifest) {
    this.#folder = join(outputFolder(scope), `fermata-${Node.of(scope).addr}`);
    rmSync(this.#folder, { recursive: true, force: true });
    this.#tasks = folders.length === 0 ? undefined : bundleTasks(folders, this.#folder);
    this.#manifest = oneEach(this.#tasks?.manifest ?? {}, elsewhere);
  }

  /** The asset of one function. */
  of(name: FunctionName): Code {
    const asset = join(this.#folder, "assets", name);
    mkdirSync(asset, { recursive: true });
    writeFileSync(join(asset, "index.mjs"), functionCode(name));
    // Compiling needs no tasks, and its code stays the same whatever they are.
    if (name !== "compile")
      writeFileSync(join(asset, "tasks.json"), JSON.stringify(this.#manifest));
    if (name === "run-task" && this.#tasks !== undefined) {
      writeFileSync(join(asset, "tasks.mjs"), this.#tasks.code);
    }
    return Code.fromAsset(asset);
  }
}

/** A task type runs in one place only. */
function oneEach(bundled: TaskManifest, elsewhere: TaskManifest): TaskManifest {
  const twice = Object.keys(bundled).filter((type) => Object.hasOwn(elsewhere, type));
  if (twice.length === 0) return { ...bundled, ...elsewhere };
  throw new Error(
    `These tasks have a handler in a folder and a function, too: ${twice.join(", ")}. ` +
      "Remove one of the two.",
  );
}

function outputFolder(scope: Construct): string {
  const stage = Stage.of(scope);
  if (stage === undefined) throw new Error("Fermata must stand in a stack of an app.");
  return stage.outdir;
}
