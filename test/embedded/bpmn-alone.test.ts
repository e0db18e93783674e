import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sequence, service } from "../support/bpmn-xml.ts";
import { aDataDir } from "../support/embedded.ts";
import { aWorkflow, bundleOf } from "../support/workflow-files.ts";

const EMBEDDED = new URL("../../lib/embedded/index.ts", import.meta.url).href;

/** What an engine starts besides itself in a process of its own, until it has run a source. */
function startedFor(deployment: unknown, id: string): readonly string[] {
  const program = `
    import child from "node:child_process";
    import { syncBuiltinESMExports } from "node:module";
    import threads from "node:worker_threads";
    const started = new Set();
    const { spawn } = child;
    child.spawn = (...given) => { started.add("process"); return spawn(...given); };
    threads.Worker = class extends threads.Worker { constructor(...given) { super(...given); started.add("thread"); } };
    const { Module } = WebAssembly;
    const isQuickJs = (module) => Module.exports(module).some(({ name }) => name.startsWith("qjs_"));
    WebAssembly.Module = class extends Module {
      constructor(...given) { super(...given); if (isQuickJs(this)) started.add("QuickJS"); }
    };
    syncBuiltinESMExports();
    const { openEngine } = await import(${JSON.stringify(EMBEDDED)});
    const dataDir = ${JSON.stringify(join(aDataDir(), "data"))};
    const engine = await openEngine({ dataDir, tasks: { work: () => ({}) } });
    await engine.deploy(${JSON.stringify(deployment)});
    const { instanceId } = await engine.start(${JSON.stringify(id)});
    await engine.result(instanceId);
    await engine.close();
    console.log(JSON.stringify([...started]));`;
  const args = ["--input-type=module", "--eval", program];
  return JSON.parse(execFileSync(process.execPath, args).toString());
}

test("an engine that runs BPMN alone starts no sandbox and no bundler", () => {
  expect(startedFor(sequence(service("work")), "p")).toEqual([]);
});

test("an engine that runs code starts a sandbox in a thread", async () => {
  const source = await bundleOf(aWorkflow("return task('work');"));

  expect(startedFor({ notation: "code", source }, "w")).toEqual(["thread", "QuickJS"]);
});
