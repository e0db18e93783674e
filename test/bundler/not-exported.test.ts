import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { notExported } from "../../lib/bundler/not-exported.ts";
import { aDataDir } from "../support/embedded.ts";

/** The warnings about a file with this text below the import, as `line:column message`. */
function warningsOf(text: string): readonly string[] {
  const path = join(aDataDir(), "order.ts");
  writeFileSync(path, `import { step, workflow } from "fermata-engine/workflow";\n${text}`);
  return notExported(path, (one) => basename(one)).map(
    ({ file, line, column, message }) => `${file}:${line}:${column} ${message}`,
  );
}

test("a workflow and a step that are not exported are told with their places", () => {
  const text = `const charge = step("charge", async () => 1);
  const order = workflow("order", async () => charge());`;

  expect(warningsOf(text)).toEqual([
    'order.ts:2:7 The step "charge" is not exported, so this engine has no handler for it.',
    'order.ts:3:9 The workflow "order" is not exported, so it is not deployed.',
  ]);
});

test.each([
  'export const order = workflow("order", async () => 1);',
  'const order = workflow("order", async () => 1); export { order as it };',
  'const order = workflow("order", async () => 1); export default order;',
  "const step2 = (type: string) => type; const a = step2('a');",
  "const a = 1;",
  "not a program",
])("%s is no reason for a warning", (text) => {
  expect(warningsOf(text)).toEqual([]);
});

test("an id that is computed is not named", () => {
  expect(warningsOf('const it = workflow(["a"].join(""), async () => 1);')).toEqual([
    "order.ts:2:7 The workflow is not exported, so it is not deployed.",
  ]);
});
