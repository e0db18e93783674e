import { describe, expect, test } from "vitest";
import { openEngine } from "../../../lib/embedded/index.ts";
import { aDataDir, anEngine } from "../../support/embedded.ts";
import { aWorkflow, workflowsIn } from "../../support/workflow-files.ts";

/** A statement that ends on the host, so that a test whose file runs there fails instead of hanging. */
const ENDLESS = "while (!globalThis.ranOnHost);";

/** Notes that the file runs on the host. */
const runsOnHost = (name: string) => `globalThis.ranOnHost?.push("${name}");\n`;

const ranOnHost: string[] = [];
Object.assign(globalThis, { ranOnHost });

/** What opening an engine with these files is refused for, without any of them running here. */
async function refusedWith(files: Readonly<Record<string, string>>) {
  ranOnHost.length = 0;
  const opened = openEngine({ dataDir: aDataDir(), workflows: workflowsIn(files) });
  const error = await opened.then(
    (engine) => engine.close(),
    (cause) => cause,
  );
  expect(ranOnHost).toEqual([]);
  expect(error).toMatchObject({ code: "definition/invalid" });
  return error.details;
}

describe("a workflow file whose module scope does not end", () => {
  test("is refused by its name, and does not run in the process", async () => {
    const file = `${runsOnHost("w")}${ENDLESS}\n${aWorkflow("return 1;")}`;

    expect(await refusedWith({ "w.ts": file })).toMatchObject([
      {
        severity: "error",
        code: "code/load-stopped",
        file: "w.ts",
        message: expect.stringMatching(/endless loop/),
      },
    ]);
  });

  test("is refused where it has steps only", async () => {
    const steps = `${runsOnHost("steps")}${ENDLESS}
      export const one = step("one", async () => 1);`;

    expect(await refusedWith({ "steps.ts": steps })).toMatchObject([
      { code: "code/load-stopped", file: "steps.ts" },
    ]);
  });

  test("keeps the files from running that import it for their steps", async () => {
    const details = await refusedWith({
      "a.ts": `import { one } from "./endless.ts";
        ${runsOnHost("a")}
        export const two = step("two", async () => one);
        ${aWorkflow("return two();", "a")}`,
      "endless.ts": `${ENDLESS}\nexport const one = 1;\n${aWorkflow("return 1;", "endless")}`,
      "broken.ts": "export const = 5;",
    });

    expect(details).toMatchObject([
      { code: "code/syntax", file: "broken.ts" },
      { code: "code/load-stopped", file: "endless.ts" },
    ]);
  });

  test("is refused where it cannot be bundled, and waits at its top", async () => {
    const file = `${runsOnHost("w")}await new Promise((end) => setTimeout(end, 1));
      ${aWorkflow("return 1;")}`;

    const details = await refusedWith({ "w.ts": file });

    expect(details).toMatchObject([{ code: "code/syntax", file: "w.ts", line: 3 }]);
  });

  test("is refused where its bundle is too large to be run", async () => {
    const file = `${runsOnHost("w")}${ENDLESS}
      ${aWorkflow(`return ${JSON.stringify("x".repeat(1_100_000))};`)}`;

    const details = await refusedWith({ "w.ts": file });

    expect(details).toMatchObject([{ code: "code/too-large", file: "w.ts" }]);
  });

  test("has its other problems told as well", async () => {
    const file = `${ENDLESS}\n${aWorkflow("return fetch(input);")}`;

    expect(await refusedWith({ "w.ts": file })).toMatchObject([
      { code: "code/not-in-workflow", line: 4 },
      { code: "code/load-stopped" },
    ]);
  });
});

describe("a workflow file whose module scope throws in the sandbox", () => {
  test("does not run in the process where it is deployed", async () => {
    const file = `if (!globalThis.ranOnHost) throw new Error("only there");
      ${runsOnHost("w")}${aWorkflow("return 1;")}`;

    expect(await refusedWith({ "w.ts": file })).toMatchObject([
      { code: "code/load-threw", file: "w.ts", line: 2 },
    ]);
  });

  test("is used where it has steps only", async () => {
    const workflows = workflowsIn({
      "steps.ts": `process.stdout.getColorDepth?.();
        export const one = step("one", async () => 1);`,
      "w.ts": aWorkflow('return task("one");'),
    });

    const engine = await anEngine({ workflows });
    const { instanceId } = await engine.start("w");

    expect((await engine.result(instanceId)).result).toBe(1);
  });
});
