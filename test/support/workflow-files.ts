// Workflows in TypeScript as an author has them: files in a folder, which the engine bundles.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundleWorkflows } from "../../lib/bundler/bundle-workflows.ts";
import type { Json } from "../../lib/definition/json.ts";
import type { EmbeddedEngine, EmbeddedOptions } from "../../lib/embedded/index.ts";
import { aDataDir, anEngine } from "./embedded.ts";

const NAMES =
  "all, any, CancelledFailure, CorrelationTaken, delay, event, instance, message, now, publishSignal, race, random, sendEvent, sendMessage, signal, sleep, sleepUntil, step, task, TaskFailed, TimedOut, uuid, workflow, WorkflowError";
const IMPORT = `import { ${NAMES} } from "fermata-engine/workflow";`;

/** A folder with these files, by their paths; line 1 of each imports everything of the SDK. */
export function workflowsIn(files: Readonly<Record<string, string>>): string {
  const folder = aDataDir();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), `${IMPORT}\n${text}`);
  }
  return folder;
}

/** The text of a file with one workflow; in the file its body begins in line 3. */
export const aWorkflow = (body: string, id = "w"): string =>
  `export const ${id} = workflow("${id}", async (input: any) => {\n${body}\n});\n`;

/** The bundle of such a file, as it is deployed. */
export async function bundleOf(text: string): Promise<string> {
  const bundled = await bundleWorkflows(join(workflowsIn({ "w.ts": text }), "w.ts"));
  // What the analysis refuses is sent by other clients.
  if (bundled.source === undefined) throw new Error(JSON.stringify(bundled.diagnostics));
  return bundled.source;
}

/** An engine on a virtual clock that has a workflow "w" with this body. */
export const anEngineWith = (
  body: string,
  options: Partial<EmbeddedOptions> = {},
): Promise<EmbeddedEngine> =>
  anEngine({ workflows: workflowsIn({ "w.ts": aWorkflow(body) }), ...options });

/** Runs "w" to its end, or to where it waits; what an operator sees then. */
export async function run(engine: EmbeddedEngine, input: Json = null) {
  const { instanceId } = await engine.start("w", { input });
  await engine.idle();
  return engine.get(instanceId);
}

/** The journal as history tells it: every entry with the occurrence that it is about. */
export async function journalOf(engine: EmbeddedEngine, instanceId: string): Promise<string[]> {
  const { items } = await engine.history(instanceId);
  return items.map(({ type, element = "", occurrence = "" }) => `${type} ${element} ${occurrence}`);
}
