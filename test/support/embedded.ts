import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type EmbeddedEngine, type EmbeddedOptions, openEngine } from "../../lib/embedded/index.ts";

/** A folder that is removed when the test ends. */
export function aDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), "fermata-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** An engine on a virtual clock that is closed when the test ends, if it is still open. */
export async function anEngine(
  options: Partial<EmbeddedOptions> & { source?: string } = {},
): Promise<EmbeddedEngine> {
  const { source, ...rest } = options;
  const engine = await openEngine({ dataDir: aDataDir(), clock: "virtual", ...rest });
  onTestFinished(() => engine.close({ graceMs: 100 }));
  if (source !== undefined) await engine.deploy(source);
  return engine;
}

/** Every line of an instance's history, as `type element`. */
export async function trailOf(engine: EmbeddedEngine, instanceId: string): Promise<string[]> {
  const { items } = await engine.history(instanceId);
  return items.map(({ type, element }) => (element === undefined ? type : `${type} ${element}`));
}
