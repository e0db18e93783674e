import { expect, test } from "vitest";
import { openEngine } from "../../../lib/embedded/index.ts";
import { aDataDir } from "../../support/embedded.ts";
import { aWorkflow, workflowsIn } from "../../support/workflow-files.ts";

/** What opening an engine with these files is refused for. */
const refusedWith = (files: Readonly<Record<string, string>>) =>
  openEngine({ dataDir: aDataDir(), workflows: workflowsIn(files) }).then(
    async (engine) => engine.close(),
    (error) => error.details,
  );

test("two workflows with one id are refused by the line of the second: in one file", async () => {
  const twice = `${aWorkflow("return 1;", "same")}export const other = workflow("same", async () => 2);`;

  expect(await refusedWith({ "a.ts": twice, "b.ts": aWorkflow("return 1;", "b") })).toMatchObject([
    { severity: "error", code: "code/duplicate-id", file: "a.ts", line: 5 },
  ]);
});

test("in two files, with the place of the first", async () => {
  const files = {
    "a.ts": aWorkflow("return 'a';", "same"),
    "b.ts": `\n${aWorkflow("return 'b';", "same")}`,
    "broken.ts": "export const = 1;",
  };

  expect(await refusedWith(files)).toMatchObject([
    { code: "code/syntax", file: "broken.ts" },
    {
      code: "code/duplicate-id",
      message: 'Two files export the workflow "same": this one and a.ts:2.',
      file: "b.ts",
      line: 3,
    },
  ]);
});

test("in a file that passes on the workflow of another", async () => {
  const files = { "a.ts": aWorkflow("return 'a';", "same"), "b.ts": 'export * from "./a.ts";' };

  expect(await refusedWith(files)).toMatchObject([
    { message: expect.stringContaining("a.ts:2"), file: "a.ts", line: 2 },
  ]);
});
