import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import type { Diagnostic } from "../../../lib/definition/diagnostic.ts";
import { openEngine } from "../../../lib/embedded/index.ts";
import { aDataDir, anEngine } from "../../support/embedded.ts";
import { aWorkflow, run, workflowsIn } from "../../support/workflow-files.ts";

const ids = async (engine: Awaited<ReturnType<typeof anEngine>>) =>
  (await engine.definitions()).items.map(({ id }) => id).sort();

describe("openEngine with workflows", () => {
  test("deploys every file of a folder, registers its steps, and skips tests and declarations", async () => {
    const workflows = workflowsIn({
      "one.ts": `export const double = step("double", async (n: number) => n * 2);
        ${aWorkflow("return double(input);", "one")}`,
      "two.js": 'export const two = workflow("two", async () => 2);',
      "two.test.ts": "throw new Error('not to be loaded');",
      "types.d.ts": "declare const x: number;",
      "lib/helper.ts": "throw new Error('not to be loaded either');",
    });

    const engine = await anEngine({ workflows });
    const { instanceId } = await engine.start("one", { input: 21 });

    expect(await ids(engine)).toEqual(["one", "two"]);
    expect((await engine.result(instanceId)).result).toBe(42);
  });

  test.each(["one", "several"])("takes %s of the folders of tasks as URLs", async (how) => {
    const folder = workflowsIn({
      "w.ts": aWorkflow('return task("double", 21);'),
      "tasks/double.ts": "export default (n: number) => n * 2;",
    });
    const url = pathToFileURL(join(folder, "tasks/"));

    const engine = await anEngine({
      workflows: pathToFileURL(join(folder, "w.ts")),
      tasks: how === "one" ? url : [url],
    });

    expect((await run(engine)).result).toBe(42);
  });

  test("takes files and URLs, one or several", async () => {
    const folder = workflowsIn({ "a.ts": aWorkflow("", "a"), "b.ts": aWorkflow("", "b") });
    const url = pathToFileURL(join(folder, "b.ts"));

    const several = await anEngine({ workflows: [join(folder, "a.ts"), url] });
    const asText = await anEngine({ workflows: url.href });
    const asFolder = await anEngine({ workflows: pathToFileURL(folder) });

    expect(await ids(several)).toEqual(["a", "b"]);
    expect(await ids(asText)).toEqual(["b"]);
    expect(await ids(asFolder)).toEqual(["a", "b"]);
  });

  test("takes a file with steps only: its handlers run for the workflows of others", async () => {
    const workflows = workflowsIn({
      "steps.ts": 'export const hello = step("hello", async (name: string) => "hello " + name);',
      "w.ts": aWorkflow('return task("hello", input);'),
    });

    const engine = await anEngine({ workflows });

    expect(await ids(engine)).toEqual(["w"]);
    expect((await run(engine, "you")).result).toBe("hello you");
  });

  test("stores nothing anew when it opens again with the same files", async () => {
    const dataDir = aDataDir();
    const workflows = workflowsIn({ "w.ts": aWorkflow("return 1;") });
    await (await anEngine({ dataDir, workflows })).close();

    const engine = await anEngine({ dataDir, workflows });

    expect(await engine.definition("w")).toMatchObject({ version: 1 });
  });

  test("deploys a workflow only from the file that exports it, not from files that import it", async () => {
    const dataDir = aDataDir();
    const workflows = workflowsIn({
      "a.ts": `import { b, half } from "./b.ts";\n${aWorkflow("return [b.id, half(input)];", "a")}`,
      "b.ts": `import { a } from "./a.ts";\nexport const half = (n: number) => n / 2;\n${aWorkflow("return [a.id, half(input)];", "b")}`,
    });
    await (await anEngine({ dataDir, workflows })).close();

    const engine = await anEngine({ dataDir, workflows });

    for (const [id, other] of ["ab", "ba"]) {
      expect(await engine.definition(id as string)).toMatchObject({ version: 1 });
      const { instanceId } = await engine.start(id as string, { input: 4 });
      expect((await engine.result(instanceId)).result).toEqual([other, 2]);
    }
  });

  test("refuses a file that passes on the workflow of another one in the folder", async () => {
    const workflows = workflowsIn({
      "a.ts": aWorkflow("return 1;", "a"),
      "index.ts": 'export * from "./a.ts";',
    });

    const opened = openEngine({ dataDir: aDataDir(), workflows });

    await expect(opened).rejects.toMatchObject({
      code: "definition/invalid",
      message: expect.stringContaining('Two files export the workflow "a"'),
    });
  });

  test("tells all problems of all files at once, and creates no data folder", async () => {
    const dataDir = join(aDataDir(), "data");
    const workflows = workflowsIn({
      "broken.ts": "export const = 5;",
      "missing.ts": `import { x } from "no-such-package";\n${aWorkflow("return x + Intl;", "missing")}`,
      "fine.ts": aWorkflow("return 1;", "fine"),
    });

    const opened = openEngine({ dataDir, workflows });

    const error = await opened.then(
      () => undefined,
      (cause) => cause,
    );
    expect(error).toMatchObject({ code: "definition/invalid" });
    const details: readonly Diagnostic[] = error.details;
    expect(new Set(details.map(({ file }) => file))).toEqual(new Set(["broken.ts", "missing.ts"]));
    for (const detail of details) expect(detail).toMatchObject({ line: expect.any(Number) });
    expect(details.filter(({ file }) => file === "missing.ts").map(({ code }) => code)).toEqual([
      "code/unresolved-import",
      "code/not-in-workflow",
    ]);
    expect(() => readdirSync(dataDir)).toThrow("ENOENT");
  });

  test("tells a wrong name of the SDK once, and what else is wrong with its file", async () => {
    const workflows = workflowsIn({
      "w.ts": `import { dely } from "fermata-engine/workflow";
        dely();
        ${aWorkflow("return fetch(input);")}`,
      "steps.ts": `import { stp } from "fermata-engine/workflow";
        import { cpus } from "node:os";
        if (cpus().length === 0) process.exit();
        export const one = stp("one", () => 1);`,
    });

    const opened = openEngine({ dataDir: aDataDir(), workflows });

    const error = await opened.then(
      () => undefined,
      (cause) => cause,
    );
    const details: readonly Diagnostic[] = error.details;
    expect(details.map(({ code, file, line }) => [code, file, line])).toEqual([
      ["code/unknown-import", "steps.ts", 2],
      ["code/unknown-import", "w.ts", 2],
      ["code/not-in-workflow", "w.ts", 5],
    ]);
  });

  test.each([
    ["fetch", "await fetch('https://example.org');"],
    ["process", "return process.env.HOME;"],
    ["setTimeout", "await new Promise((go) => setTimeout(go, 5));"],
    ["Buffer", "return Buffer.from('x');"],
  ])(
    "refuses %s in a workflow with file, line and a hint; nothing is stored",
    async (name, body) => {
      const dataDir = aDataDir();
      const workflows = workflowsIn({ "w.ts": aWorkflow(body), "fine.ts": aWorkflow("", "fine") });

      const opened = openEngine({ dataDir, workflows, clock: "virtual" });

      await expect(opened).rejects.toMatchObject({
        code: "definition/invalid",
        details: [
          expect.objectContaining({
            code: "code/not-in-workflow",
            message: expect.stringContaining(name),
            file: "w.ts",
            line: 3,
            hint: expect.stringContaining("step"),
          }),
        ],
      });
      expect(await ids(await anEngine({ dataDir }))).toEqual([]);
    },
  );

  test("refuses two steps of one type, and a step that a task handler has, too", async () => {
    const twice = 'export const a = step("same", async () => 1);';
    const workflows = workflowsIn({ "a.ts": twice, "b.ts": twice });
    const one = workflowsIn({ "a.ts": twice });

    const refused = { code: "tasks/handler-unusable", message: expect.stringContaining('"same"') };
    await expect(openEngine({ dataDir: aDataDir(), workflows })).rejects.toMatchObject(refused);
    await expect(
      openEngine({ dataDir: aDataDir(), workflows: one, tasks: { same: () => 1 } }),
    ).rejects.toMatchObject(refused);
  });

  test("refuses two workflows of one id in two files", async () => {
    const dataDir = aDataDir();
    const workflows = workflowsIn({
      "a.ts": aWorkflow("return 'a';", "same"),
      "b.ts": aWorkflow("return 'b';", "same"),
    });

    const opened = openEngine({ dataDir, workflows });

    await expect(opened).rejects.toMatchObject({ message: expect.stringContaining("same") });
    expect(await ids(await anEngine({ dataDir }))).toEqual([]);
  });

  test("refuses a folder that is not there", async () => {
    const opened = openEngine({ dataDir: aDataDir(), workflows: join(aDataDir(), "nowhere") });

    await expect(opened).rejects.toMatchObject({ code: "engine/misconfigured" });
  });
});
