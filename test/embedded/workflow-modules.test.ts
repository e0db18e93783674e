import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aDataDir } from "../support/embedded.ts";

/** Runs a program with Node itself, since the test runner imports modules in its own way. */
function run(folder: string, files: Readonly<Record<string, string>>): unknown {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return JSON.parse(execFileSync(process.execPath, [join(folder, "main.ts")]).toString());
}

const EMBEDDED = new URL("../../lib/embedded/index.ts", import.meta.url).href;

test("a module that workflow files, task files and the program import exists once", () => {
  const seen = run(aDataDir(), {
    "main.ts": `
import { openEngine } from "${EMBEDDED}";
import { pool } from "./db.ts";
const engine = await openEngine({
  dataDir: import.meta.dirname + "/data",
  workflows: import.meta.dirname + "/workflows",
  tasks: import.meta.dirname + "/tasks",
});
const results = [];
for (const definitionId of ["one", "two", "three"]) {
  const { instanceId } = await engine.start(definitionId, {});
  results.push((await engine.result(instanceId)).result);
}
await engine.close();
console.log(JSON.stringify({ results, opened: pool.opened, used: pool.used }));
`,
    "db.ts": `
export const pool = { opened: (globalThis as { opens?: number }).opens ?? 0, used: [] as string[] };
(globalThis as { opens?: number }).opens = pool.opened + 1;
`,
    "workflows/one.ts": `
import { step, workflow } from "fermata-engine/workflow";
import { pool } from "../db.ts";
enum Color { Red = "red" }
export const use = step("use-one", async () => pool.used.push(Color.Red));
export const one = workflow("one", async () => use());
`,
    "workflows/two.ts": `
import { step, workflow } from "fermata-engine/workflow";
import { pool } from "../db.js";
export const use = step("use-two", async () => pool.used.push("two"));
export const two = workflow("two", async () => use());
`,
    "workflows/three.ts": `
import { workflow } from "fermata-engine/workflow";
import { use } from "../tasks/steps.ts";
export const three = workflow("three", async () => use());
`,
    "tasks/steps.ts": `
import { step } from "fermata-engine/workflow";
import { pool } from "../db.ts";
export const use = step("use-three", async () => pool.used.push("three"));
`,
  });

  expect(seen).toEqual({ results: [1, 2, 3], opened: 0, used: ["red", "two", "three"] });
});
