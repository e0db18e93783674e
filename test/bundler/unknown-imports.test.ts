import { expect, test } from "vitest";
import { bundle } from "./author-folder.ts";

const SDK = "fermata-engine/workflow";
const UNKNOWN = { severity: "error", code: "code/unknown-import" };

test("a name that the SDK does not have is told beside everything else", async () => {
  const { ok, source, diagnostics } = await bundle({
    "order.ts": `import { hostname } from "node:os";
import { dely, workflow } from "${SDK}";
import { help } from "./help.ts";
export const order = workflow("order", async () => [await dely("1s"), help(), hostname()]);`,
    "help.ts": `import fermata, { wrkflow as w } from "${SDK}";\nexport const help = () => [fermata, w];`,
  });

  expect(ok).toBe(false);
  expect(source).toContain('workflow("order"');
  const found = diagnostics.map(({ code, file, line }) => [code, file, line]);
  expect(found.toSorted()).toEqual([
    ["code/node-module", "order.ts", 1],
    ["code/unknown-import", "help.ts", 1],
    ["code/unknown-import", "help.ts", 1],
    ["code/unknown-import", "order.ts", 2],
  ]);
  expect(diagnostics).toContainEqual({
    ...UNKNOWN,
    message: `No matching export in "${SDK}" for import "dely".`,
    file: "order.ts",
    line: 2,
    column: 10,
    hint: "Correct the name, or leave it out of the import.",
  });
});

test("a name that another file does not export is told as it was", async () => {
  const { diagnostics } = await bundle({
    "order.ts": `import { dely } from "${SDK}";\nimport { b } from "./b.ts";\nexport default [dely, b];`,
    "b.ts": "export const a = 1;",
  });

  expect(diagnostics.map(({ code, line }) => [code, line])).toEqual([
    ["code/unknown-import", 1],
    ["code/syntax", 2],
  ]);
});

test("types are imported as if they were values, as TypeScript lets one do", async () => {
  const { ok } = await bundle({
    "order.ts": `import { type Step, StepContext, workflow } from "${SDK}";
export const order = workflow("order", async (it: StepContext, s?: Step<1, 2>) => [it, s]);`,
  });

  expect(ok).toBe(true);
});
