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
    expect(module.charge).toHaveProperty("type", "charge");
    expect(inputs).toEqual([join(folder, "order.ts"), join(folder, "sub/place.ts")]);
  });

  test("may be any TypeScript, as tsc takes it", async () => {
    const { module } = await exportsOf({
      "order.ts": `
import { Order, total } from "./orders";
import { names } from "./folder";
import settings from "./settings.json";
import { View } from "./view.js";
class Box { constructor(readonly value: number) {} }
namespace Rates { export const vat = 19; }
const one: Order = { n: 1 };
export const values = [total(one), names, settings, View(), new Box(2).value, Rates.vat];
`,
      "orders/index.ts": `export interface Order { n: number }\nexport const total = ({ n }: Order) => n + 1;`,
      "folder/index.ts": `export const names = ["a"];`,
      "settings.json": `{ "a": 1 }`,
      "view.tsx": `/** @jsx h */\nconst h = (name: string) => name.toUpperCase();\nexport const View = () => <b>x</b>;`,
      "package.json": `{ "type": "commonjs" }`,
    });

    expect(module.values).toEqual([2, ["a"], { a: 1 }, "B", 2, 19]);
  });

  test("may have decorators, if its tsconfig.json says so", async () => {
    const { module } = await exportsOf({
      "order.ts": `
const seen: string[] = [];
const mark = (_: object, name: string) => { seen.push(name); };
class Order { @mark total() {} }
export const values = [seen, typeof Order];
`,
      "tsconfig.json": `{ "compilerOptions": { "experimentalDecorators": true } }`,
    });

    expect(module.values).toEqual([["total"], "function"]);
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

  test("is one module with its state, whoever imports it", async () => {
    const { folder, module } = await exportsOf({
      "order.ts": `export { pool } from "./db.ts";`,
      "other.ts": `import { pool } from "./db.ts"; enum A { B } export const other = [pool, A.B];`,
      "db.ts": "export const pool = {};",
    });
    const other = await loadSteps(pathToFileURL(join(folder, "other.ts")));
    const again = await loadSteps(join(folder, "order.ts"));

    expect(other.ok && other.module.other).toEqual([module.pool, 0]);
    expect((other.ok ? (other.module.other as unknown[]) : [])[0]).toBe(module.pool);
    expect(again.ok && again.module.pool).toBe(module.pool);
  });

  test("is loaded anew in a later generation with what changed, and keeps the rest", async () => {
    const { folder, module } = await exportsOf({
      "order.ts": `export { rate } from "./rate.ts"; export { pool } from "./db.ts"; export const own = {};`,
      "rate.ts": "export const rate = 1;",
      "db.ts": "export const pool = {};",
    });
    const path = join(folder, "order.ts");
    const unchanged = await loadSteps(path, { generation: 101 });
    writeFileSync(join(folder, "rate.ts"), "export const rate = 2;");
    const plain = await loadSteps(path);
    const changed = await loadSteps(path, { generation: 102 });

    expect(unchanged.ok && unchanged.module).toBe(module);
    expect(plain.ok && plain.module).toBe(module);
    expect(changed).toMatchObject({ ok: true, module: { rate: 2 } });
    expect(changed.ok && changed.module.pool).toBe(module.pool);
    expect(changed.ok && changed.module.own).not.toBe(module.own);
  });

  test("that failed is loaded anew in a later generation, even if it is the same", async () => {
    const flag = `flag${Math.random()}`;
    const { folder, loaded } = await load({
      "order.ts": `if (process.env["${flag}"] === undefined) throw new Error("not yet"); export const a = 1;`,
    });
    process.env[flag] = "set";
    const again = await loadSteps(join(folder, "order.ts"), { generation: 103 });
    delete process.env[flag];

    expect(loaded.ok).toBe(false);
    expect(again).toMatchObject({ ok: true, module: { a: 1 } });
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

  test("that is transformed and throws gets its own line, too", () => {
    const folder = folderWith({
      "order.ts": `type A = {\n  a: string;\n};\n\nenum B { C }\n\nexport const value: A = JSON.parse("{" + B.C);`,
    });
    const loader = new URL("../../lib/bundler/load-module.ts", import.meta.url).href;
    const program = `import { loadSteps } from "${loader}";
      console.log(JSON.stringify(await loadSteps("${folder}/order.ts")));`;
    // In a process of its own, since the test runner writes stack traces in its own way.
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", program]);

    expect(JSON.parse(printed.toString())).toMatchObject({
      ok: false,
      diagnostics: [{ code: "code/load-failed", line: 7 }],
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

  test("that imports what another file does not export gets a diagnostic with its line", async () => {
    const { loaded } = await load({
      "order.ts": `\nimport { none } from "./a.ts";\nexport default none;`,
      "a.ts": "export const a = 1;",
    });

    expect(loaded).toMatchObject({
      ok: false,
      diagnostics: [{ code: "code/syntax", file: "order.ts", line: 2 }],
    });
  });

  test("that does not exist gets a diagnostic", async () => {
    expect(await loadSteps(join(folderWith({}), "none.ts"))).toMatchObject({
      ok: false,
      diagnostics: [{ code: "code/unreadable-file", file: "none.ts" }],
    });
  });
});
