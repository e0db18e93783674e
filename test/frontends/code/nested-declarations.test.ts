import { describe, expect, test } from "vitest";
import { analyseBundle } from "../../../lib/frontends/code/analyse.ts";
import { sourceOf } from "../../bundler/author-folder.ts";

/** What is found in a file with these lines after the imports, which are line 1. */
async function foundIn(...lines: readonly string[]) {
  const sdk = 'import { all, step as work, step, workflow } from "fermata-engine/workflow";';
  return analyseBundle(await sourceOf({ "order.ts": [sdk, ...lines].join("\n") }));
}

describe("a step that is declared inside of a workflow", () => {
  test("is refused with its place", async () => {
    const found = await foundIn(
      'export const order = workflow("order", async () => {',
      '  const inner = step("inner", async () => 1);',
      "  return inner();",
      "});",
    );

    expect(found).toEqual([
      {
        severity: "error",
        code: "code/nested-declaration",
        message: 'The step "inner" is declared inside of a workflow.',
        hint: "Declare it at the top of the file, and export it.",
        file: "order.ts",
        line: 3,
        column: 17,
      },
    ]);
  });

  test.each([
    ["in a callback", 'workflow("order", async () => all([1].map(() => work("a", () => 1)())));'],
    [
      "in a function of its own",
      'workflow("order", run); async function run() { step("a", () => 1); }',
    ],
    [
      "in a function that it calls",
      'workflow("order", () => help()); function help() { step("a", () => 1); }',
    ],
    [
      "in one that calls itself",
      'workflow("order", () => help(3)); const help = (n: number): any => n === 0 ? step("a", () => 1) : help(n - 1);',
    ],
    ["with a computed type", 'workflow("order", async (n: string) => step(n, () => 1)());'],
  ])("is refused %s", async (_, text) => {
    expect(await foundIn(`export const order = ${text}`)).toMatchObject([
      { code: "code/nested-declaration", line: 2 },
    ]);
  });

  test("is refused in a file that the workflow imports", async () => {
    const source = await sourceOf({
      "order.ts": `import { workflow } from "fermata-engine/workflow";
        import { help } from "./help.ts";
        export const order = workflow("order", async () => help());`,
      "help.ts": `import { step } from "fermata-engine/workflow";
        export const help = () => step("a", () => 1)();`,
    });

    expect(analyseBundle(source)).toMatchObject([
      { code: "code/nested-declaration", file: "help.ts", line: 2 },
    ]);
  });
});

test("a workflow that is declared inside of another is refused", async () => {
  const inner = 'const inner = workflow("inner", async () => 1);';

  expect(
    await foundIn(
      `export const order = workflow("order", async () => {`,
      inner,
      "return inner.id;",
      "});",
    ),
  ).toMatchObject([
    {
      code: "code/nested-declaration",
      message: 'The workflow "inner" is declared inside of a workflow.',
      line: 3,
    },
  ]);
});

describe("a function that makes steps", () => {
  test.each([
    ["is called at the top of the file", "export const a = make('a');"],
    [
      "is called by another that is",
      "const twice = () => [make('a')]; export const [a] = twice();",
    ],
    [
      "is also called by a workflow",
      "export const a = make('a'); export const b = workflow('b', () => make('c')());",
    ],
  ])("may be used if it %s", async (_, use) => {
    const make = "const make = (type: string) => step(type, async () => 1);";
    const order = "export const order = workflow('order', () => a());";

    expect(await foundIn(make, use, order)).toEqual([]);
  });
});
