import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { loadSteps } from "../../lib/bundler/load-module.ts";
import { folderWith } from "./author-folder.ts";

const PACKAGE = {
  "node_modules/dep/package.json": '{ "exports": { "import": "./i.mjs", "require": "./r.cjs" } }',
  "node_modules/dep/i.mjs": 'export const which = "module"; export const url = import.meta.url;',
  "node_modules/dep/r.cjs": 'exports.which = "CommonJS";',
};

async function load(files: Readonly<Record<string, string>>) {
  const [entry = ""] = Object.keys(files);
  const folder = folderWith(files);
  return { folder, loaded: await loadSteps(join(folder, entry)) };
}

async function exportsOf(files: Readonly<Record<string, string>>) {
  const { folder, loaded } = await load(files);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.diagnostics));
  return { folder, module: loaded.module, inputs: loaded.inputs };
}

describe("an author's file on the host", () => {
  test("is loaded with its types, enums, files, packages and modules of Node", async () => {
    const { folder, module, inputs } = await exportsOf({
      "order.ts": `
import { step } from "fermata-engine/workflow";
import { sep } from "path";
import { which, url } from "dep";
import { place } from "./sub/place.js";
enum Color { Red = "red" }
const local: string = Color.Red satisfies string;
export const values = [local, sep, which, url, place, import.meta.filename];
export const charge = step("charge", async (id: string) => id + local);
`,
      "sub/place.ts": `export const place = [import.meta.url, import.meta.dirname, import.meta.resolve("./x.ts")];`,
      ...PACKAGE,
    });

    const urlOf = (path: string) => pathToFileURL(join(folder, path)).href;
    expect(module.values).toEqual([
      "red",
      "/",
      "module",
      urlOf("node_modules/dep/i.mjs"),
      [urlOf("sub/place.ts"), join(folder, "sub"), urlOf("sub/x.ts")],
      join(folder, "order.ts"),
    ]);
    expect(module.charge).toHaveProperty("fn", expect.any(Function));
    expect(inputs).toEqual([join(folder, "order.ts"), join(folder, "sub/place.ts")]);
  });

  test("may be CommonJS in part, or make its own require", async () => {
    const { module } = await exportsOf({
      "order.mts": `
import { createRequire } from "node:module";
import { old } from "./old.cjs";
const require = createRequire(import.meta.url);
export const values = [require("dep").which, old];
`,
      "old.cjs": `exports.old = require("dep").which + typeof require("fs").readFileSync;`,
      ...PACKAGE,
    });

    expect(module.values).toEqual(["CommonJS", "CommonJSfunction"]);
  });

  test("is loaded anew after a change, and is the same module without one", async () => {
    const { folder, module } = await exportsOf({ "order.ts": "export const value = { n: 1 };" });
    const path = join(folder, "order.ts");
    const again = await loadSteps(pathToFileURL(path));
    writeFileSync(path, "export const value = { n: 2 };");

    expect(again.ok && again.module.value).toBe(module.value);
    expect(await loadSteps(path)).toMatchObject({ ok: true, module: { value: { n: 2 } } });
  });

  test("shows short names in stack traces", () => {
    const folder = folderWith({ "order.ts": `export const { stack } = new Error("x");` });
    const loader = new URL("../../lib/bundler/load-module.ts", import.meta.url).href;
    const program = `import { loadSteps } from "${loader}";
      console.log((await loadSteps("${folder}/order.ts")).module.stack);`;
    // In a process of its own, since the test runner writes stack traces in its own way.
    const stack = execFileSync(process.execPath, ["--input-type=module", "-e", program]).toString();

    expect(stack).toContain(`fermata-steps:${folder}/order.ts:`);
    expect(stack).not.toContain("base64");
  });

  test("that throws while it is loaded gets a diagnostic with file and line", async () => {
    const { loaded } = await load({
      "order.ts": `import { value } from "./value.ts";\nexport const order = value;`,
      "value.ts": `type A = {\n  a: string;\n};\nexport const value: A = JSON.parse("{");`,
    });

    expect(loaded).toMatchObject({
      ok: false,
      diagnostics: [{ code: "code/load-failed", file: "value.ts", line: 4 }],
    });
  });

  test("that throws no error gets a diagnostic with its file", async () => {
    const { loaded } = await load({ "order.ts": `throw "nothing";` });

    expect(loaded).toMatchObject({
      ok: false,
      diagnostics: [{ code: "code/load-failed", file: "order.ts" }],
    });
  });

  test("gets every import that leads nowhere, and every error of syntax", async () => {
    const { loaded } = await load({
      "order.ts": `import a from "not-installed";\nimport b from "./none.ts";\nimport "./c.ts";\nexport default [a, b];`,
      "c.ts": "const = 1;",
    });

    expect(
      loaded.ok ? [] : loaded.diagnostics.map(({ code, file, line }) => [code, file, line]),
    ).toEqual(
      expect.arrayContaining([
        ["code/unresolved-import", "order.ts", 1],
        ["code/unresolved-import", "order.ts", 2],
        ["code/syntax", "c.ts", 1],
      ]),
    );
  });

  test("that does not exist gets a diagnostic", async () => {
    expect(await loadSteps(join(folderWith({}), "none.ts"))).toMatchObject({
      ok: false,
      diagnostics: [{ code: "code/unreadable-file", file: "none.ts" }],
    });
  });
});
