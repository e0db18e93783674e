import { cpSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { bundleWorkflows } from "../../lib/bundler/bundle-workflows.ts";
import { analyseBundle } from "../../lib/frontends/code/analyse.ts";
import { parseSourceMap } from "../../lib/frontends/code/source-map.ts";
import { authorsPart, bundle, folderWith, sourceOf } from "./author-folder.ts";

const SDK = "fermata-engine/workflow";

/** The exports of a bundle, evaluated as the sandbox does: as a script, with nothing of Node. */
function evaluate(source: string): object {
  return runInNewContext(`${source}\n__workflows`);
}

/** What a workflow of a bundle returns, if it opens no operation. */
async function run(source: string, id: string, input: unknown = null): Promise<unknown> {
  const runs = new Map<string, (input: unknown) => Promise<string>>();
  const bridge = {
    protocol: 1,
    workflow: (name: string, code: (input: unknown) => Promise<string>) => runs.set(name, code),
    step() {},
    scoped: (within: () => unknown) => ({ value: within(), scope: 1 }),
    here: () => 0,
    enter() {},
    openIn: () => [],
  };
  runInNewContext(source, { __fermata: bridge });
  return JSON.parse((await runs.get(id)?.(input)) ?? "null");
}

/** The ids of the workflows that a bundle declares. */
function declaredBy(source: string): readonly string[] {
  const ids: string[] = [];
  const bridge = { protocol: 1, workflow: (id: string) => ids.push(id), step() {} };
  runInNewContext(source, { __fermata: bridge });
  return ids.toSorted();
}

describe("a bundle of workflows", () => {
  test("has neither the bodies of steps nor what only they import, installed or not", async () => {
    const source = await sourceOf({
      "order.ts": `
import { createHash } from "node:crypto";
import { Client } from "a-package-that-is-not-installed";
import { step, workflow } from "${SDK}";
const charge = step("charge", async (id: string) => new Client().charge(createHash("sha1").update(id)));
export const order = workflow("order", async (id: string) => charge(id));
`,
    });

    expect(authorsPart(source)).toBe(`// order.ts
  var charge = step("charge", void 0);
  var order = workflow("order", async (id) => charge(id));

`);
    expect(source).not.toMatch(/crypto"|not-installed|createHash/);
    expect(Object.keys(evaluate(source))).toEqual(["order"]);
  });

  test("drops a client at the top of the file that only steps use, and what it is made of", async () => {
    const source = await sourceOf({
      "order.ts": `
import { S3Client } from "not-installed";
import { step, workflow } from "${SDK}";
const region = process.env.REGION ?? "eu";
const client = new S3Client({ region }), kept = { rate: 2 }, lost = new S3Client();
class Store { static shared = new S3Client(); put() { return client.send(lost); } }
function store() { return new Store(); }
export const shown = new S3Client({ region: process.env.OTHER });
export const put = step("put", async () => store().put(shown));
export const order = workflow("order", async () => kept.rate);
`,
    });

    expect(authorsPart(source)).not.toMatch(/S3Client|process|Store|region/);
    expect(await run(source, "order")).toBe(2);
    expect(Object.keys(evaluate(source))).toEqual(["order", "put"]);
  });

  test("knows the SDK's functions under other names and through its namespace", async () => {
    const source = await sourceOf({
      "order.js": `
import { step as durable, workflow } from "${SDK}";
import * as wf from "${SDK}";
import secret from "not-installed";
export const steps = { a: durable("a", () => secret), b: wf.step("b", () => secret) };
export const order = workflow("order", () => [steps.a, steps.b].length);
`,
    });

    expect(source).not.toContain("secret");
    expect(await run(source, "order")).toBe(2);
  });

  test.each([
    ["export *", `export * from "${SDK}";`, `import { step, workflow } from "./sdk.ts";`, "step"],
    [
      "another name",
      `export { step as activity, workflow } from "${SDK}";`,
      `import { activity, workflow } from "./sdk.ts";`,
      "activity",
    ],
    [
      "an import that is exported",
      `import { step, workflow as w } from "${SDK}"; export { step as default, w as workflow };`,
      `import durable, { workflow } from "./sdk.ts";`,
      "durable",
    ],
    [
      "a namespace",
      `export * as f from "${SDK}"; export { workflow } from "${SDK}";`,
      `import * as all from "./sdk.ts"; import { workflow } from "./sdk.ts";`,
      "all.f.step",
    ],
    [
      "several files, in a circle",
      `export * from "./more.ts";`,
      `import { step, workflow } from "./sdk.ts";`,
      "step",
    ],
  ])("knows the SDK's functions where a file passes them on: %s", async (_, sdk, imports, step) => {
    const source = await sourceOf({
      "order.ts": `
${imports}
import secret from "not-installed";
export const s = ${step}("s", () => secret);
export const order = workflow("order", () => s.type);
`,
      "sdk.ts": sdk,
      "more.ts": `export * from "./sdk.ts"; export * from "${SDK}";`,
    });

    expect(source).not.toContain("secret");
    expect(analyseBundle(source)).toEqual([]);
    expect(await run(source, "order")).toBe("s");
  });

  test("leaves alone a step of a file that passes on the others", async () => {
    const source = await sourceOf({
      "order.ts": `
import { step, workflow } from "./sdk.ts";
export const order = workflow("order", () => step("one", () => 41));
`,
      "sdk.ts": `export * from "${SDK}"; export const step = (_: string, fn: () => number) => fn() + 1;`,
    });

    expect(await run(source, "order")).toBe(42);
  });

  test.each([
    ["a variable", `const activity = step;`, 3],
    ["a function", `const activity = (type: string, run: () => number) => step(type, run);`, 3],
    ["a list of arguments", `const activity = (...a: [string, () => number]) => step(...a);`, 3],
    ["an argument", `const activity = ((fn: typeof step) => fn)(step);`, 3],
    ["another file", `import { activity } from "./activity.ts";`, 2],
  ])("keeps a step that it cannot find, which the analysis refuses: %s", async (_, how, line) => {
    const source = await sourceOf({
      "order.ts": `
import { step, workflow } from "${SDK}";
${how}
export const s = activity("s", () => 1);
export const order = workflow("order", () => [s]);
`,
      "activity.ts": `import * as f from "${SDK}";\nexport const activity = f.step;\n`,
    });

    const file = line === 2 ? "activity.ts" : "order.ts";
    expect(analyseBundle(source)).toMatchObject([
      { severity: "error", code: "code/step-not-removed", file, line },
    ]);
  });

  test("leaves alone a step that is not the SDK's", async () => {
    const source = await sourceOf({
      "order.ts": `
import { step, workflow } from "${SDK}";
const walk = (step: (name: string, fn: () => number) => number) => step("one", () => 41);
export const order = workflow("order", () => walk((_name, fn) => fn() + 1));
export const real = step("real", () => 1);
`,
    });

    expect(await run(source, "order")).toBe(42);
  });

  test("cuts steps that are imported from other files", async () => {
    const source = await sourceOf({
      "order.ts": `
import { workflow } from "${SDK}";
import { charge } from "./tasks/charge.ts";
export const order = workflow("order", async () => charge.type);
`,
      "tasks/charge.ts": `
import Stripe from "not-installed";
import { step } from "${SDK}";
const stripe = new Stripe(process.env.KEY);
export const charge = step("charge", run, { timeout: "30s" });
function run() { return stripe.charge(); }
`,
    });

    expect(source).not.toMatch(/[Ss]tripe/);
    expect(await run(source, "order")).toBe("charge");
  });

  test("takes of a file that steps and workflows share what workflows use", async () => {
    const source = await sourceOf({
      "order.ts": `
import { step, workflow } from "${SDK}";
import { client, format, load } from "./shared.ts";
export const read = step("read", () => [client, load("x")]);
export const order = workflow("order", (n: number) => format(n));
`,
      "shared.ts": `
import { readFileSync } from "node:fs";
import Package from "not-installed";
const hidden = Package.create(process.env.A);
export const client = new Package(process.env.B);
export const load = (path: string) => readFileSync(path) + hidden;
export const format = (n: number) => \`n\${n}\`;
`,
    });

    expect(authorsPart(source)).not.toMatch(/Package|process|readFileSync/);
    expect(await run(source, "order", 7)).toBe("n7");
  });

  test("takes classes, enums, namespaces and JSX of TypeScript", async () => {
    const source = await sourceOf({
      "order.tsx": `
/** @jsx h */
import { workflow } from "${SDK}";
import { h } from "./h.ts";
enum Color { Red = 1, Blue }
namespace Rates { export const vat = 19; }
abstract class Shape<T> { constructor(protected readonly side: T) {} abstract area(): number }
class Square extends Shape<number> { area() { return this.side ** 2; } }
export const order = workflow("order", () => [Color.Blue, Rates.vat, new Square(3).area(), <b>x</b>]);
`,
      "h.ts": `export const h = (name: string) => name.toUpperCase();`,
    });

    expect(await run(source, "order")).toEqual([2, 19, 9, "B"]);
  });

  test("gives the members of composites scopes of their own, where they can be moved", async () => {
    const source = await sourceOf({
      "order.ts": `
import { all, any as first, delay, race } from "${SDK}";
import * as wf from "${SDK}";
const a = async (n?: number) => n;
export const order = wf.workflow("order", async (n: number) => {
  const list = [
    await all([n, first([n + 1, a(), delay("1h")]), , a(2)]),
    await race({ a: a(3), n, b: delay("2h"), ["c"]: wf.sleep("3h"), d() {} } as never),
    await wf.all(await Promise.resolve([n])),
    await wf.all([await a(4), a(5)]),
    await all([async () => await n].map((one) => one())),
    await race([...[6].map(a), a(7)]),
    await race([...list, a(8)]),
    await race(list),
    await race(n > 1 ? [a(9)] : list),
  ];
  return list;
});
`,
    });

    const part = authorsPart(source).replace(/\s+/g, " ");
    expect(part).toContain(
      'all([n, any([scope(() => n + 1), scope(() => a()), delay("1h")]), , scope(() => a(2))])',
    );
    expect(part).toContain(
      'race({ a: scope(() => a(3)), n, b: delay("2h"), ["c"]: sleep("3h"), d() { } })',
    );
    expect(part).toContain("all(await Promise.resolve([n]))");
    expect(part).toContain("all([await a(4), scope(() => a(5))])");
    expect(part).toContain("all(scope(() => [async () => await n].map((one) => one())))");
    expect(part).toContain("race(scope(() => [...[6].map(a), scope(() => a(7))]))");
    expect(part).toContain("race([...list, scope(() => a(8))])");
    expect(part).toContain("race(list)");
    expect(part).toContain("race(scope(() => n > 1 ? [a(9)] : list))");
  });

  test("leads from an error to the author's line and column", async () => {
    const text = `#!/usr/bin/env node
import { all, step, workflow } from "${SDK}";
import { helper } from "./helper.ts";

const charge = step("charge", async (
  id: string, // ünï 🎉
) => {
  return id;
}); function fail(): never { throw new Error("here"); }
export const order = workflow("order", async () => {
  await all([1]);
  void charge;
  fail();
});
export const other = workflow("other", () => helper());
`;
    const source = await sourceOf({
      "order.ts": text,
      "helper.ts": "type A = string;\n\nexport function helper(): A {\n  throw new Error();\n}\n",
    });
    const map = parseSourceMap(source);
    const placesOf = async (run: () => unknown) => {
      const stack = await Promise.resolve()
        .then(run)
        .then(String, (error) => String(error.stack));
      return [...stack.matchAll(/:(\d+):(\d+)\)?$/gm)].map(([, line, column]) =>
        map.originalOf(Number(line), Number(column)),
      );
    };
    const at = text.split("\n")[8]?.indexOf("new Error") ?? -1;
    const places = await placesOf(() => run(source, "order"));
    expect(places[0]).toEqual({ file: "order.ts", line: 9, column: at + 1 });
    expect(places[1]).toMatchObject({ file: "order.ts", line: 13, column: 3 });
    expect((await placesOf(() => run(source, "other")))[0]).toMatchObject({
      file: "helper.ts",
      line: 4,
    });
  });

  test("is the same for the same files, wherever they lie", async () => {
    const files = {
      "order.ts": `import { step, workflow } from "${SDK}"; import { a } from "./lib/a.ts";
export const order = workflow("order", () => a); export const s = step("s", () => a);`,
      "lib/a.ts": `export const a = [1].map((x) => x);`,
    };
    const one = folderWith(files);
    const two = folderWith({});
    cpSync(one, join(two, "deep", "er"), { recursive: true });

    expect(await bundleWorkflows(join(two, "deep", "er", "order.ts"))).toMatchObject({
      ok: true,
      source: await sourceOf(files),
    });
  });

  test("names the files that were read, for whoever watches them", async () => {
    const folder = folderWith({
      "order.ts": `import { workflow } from "${SDK}"; import { a } from "./a.js"; import data from "./b.json"; import "./c.ts";
export const order = workflow("order", () => [a, data]);`,
      "a.ts": "export const a = 1;",
      "b.json": "{}",
    });
    const { inputs } = await bundleWorkflows(new URL(`file://${folder}/order.ts`));

    expect(inputs).toEqual(["a.ts", "b.json", "order.ts"].map((name) => join(folder, name)));
  });

  test("drops the JSX that only steps use, and imports that nobody uses, whatever tsconfig.json says", async () => {
    const source = await sourceOf({
      "mail.tsx": `
import React, { type FC } from "not-installed-react";
import { Unused } from "not-installed";
import { step, workflow } from "${SDK}";
const Mail: FC = () => <b>hello</b>;
export const send = step("send", async () => <Mail />);
export default workflow("mail", () => 1)
var kept = 1
const gone = new Mail()
;[kept].forEach(() => {})
`,
      "tsconfig.json": '{ "compilerOptions": { "verbatimModuleSyntax": true } }',
    });

    expect(source).not.toMatch(/react|Mail|not-installed/);
    expect(Object.keys(evaluate(source)).toSorted()).toEqual(["default", "send"]);
  });

  test("is made of a file that breaks rules beyond its syntax", async () => {
    const source = await sourceOf({
      "order.ts": `
import { step, workflow } from "${SDK}";
import secret from "not-installed";
class Box { accessor a = 1; override b = 2; }
export const s = step("s", () => secret);
export const order = workflow("order", () => new Box().b);
`,
    });

    expect(await run(source, "order")).toBe(2);
  });

  test("keeps what statements at the top of a file use", async () => {
    const source = await sourceOf({
      "order.ts": `
import { step, workflow } from "${SDK}";
const registry = new Map<string, number>();
registry.set("a", 1);
var twice = 1; var twice = registry.size + 1;
export const s = step("s", () => registry);
export const order = workflow("order", () => [registry.get("a"), twice]);
`,
    });

    expect(await run(source, "order")).toEqual([1, 2]);
  });

  test("declares the workflows that its entry exports, and none that it imports", async () => {
    const files = {
      "order.ts": `
import { workflow } from "${SDK}";
import { helper, other, type Other } from "./other.ts";
import * as third from "./third.ts";
export { passed as another, passed } from "./passed.ts";
export const order = workflow("order", (input: Other) => [helper(), other.id, third.third.id]);
`,
      "other.ts": `import { workflow } from "${SDK}";
export type Other = string;
export const helper = () => 1;
export const other = workflow("other", () => "old");
export const unused = workflow("unused", () => "old");`,
      "third.ts": `import { workflow } from "${SDK}"; export const third = workflow("third", () => 3);`,
      "passed.ts": `import { workflow } from "${SDK}"; export const passed = workflow("passed", () => 4);`,
    };
    const source = await sourceOf(files);

    expect(declaredBy(source)).toEqual(["order", "passed"]);
    expect(await run(source, "order")).toEqual([1, "other", "third"]);
    expect(source).not.toContain("unused");
  });

  test("exports what another file exports, and the default", async () => {
    const source = await sourceOf({
      "all.ts": `export * from "./order.ts"; export { other as two } from "./order.ts"; export default 1;`,
      "order.ts": `import { workflow } from "${SDK}";
export const order = workflow("order", () => 1); export const other = workflow("other", () => 2);
export type Order = string;`,
    });

    expect(Object.keys(evaluate(source)).toSorted()).toEqual(["default", "order", "other", "two"]);
  });
});

describe("a file that cannot be bundled", () => {
  test("gets a diagnostic for each module of Node that its workflows use", async () => {
    const { ok, diagnostics } = await bundle({
      "order.ts": `import { workflow } from "${SDK}";
import { readFileSync } from "node:fs";
import { load } from "./load.ts";
export const order = workflow("order", () => [readFileSync("a"), load()]);`,
      "load.ts": `\nimport { hostname } from "os";\nexport const load = () => hostname();`,
    });

    expect(ok).toBe(false);
    expect(diagnostics).toMatchObject([
      { severity: "error", code: "code/node-module", file: "load.ts", line: 2 },
      { severity: "error", code: "code/node-module", file: "order.ts", line: 2 },
    ]);
    expect(diagnostics[1]?.message).toContain('"node:fs"');
    expect(diagnostics[1]?.hint).toContain("step");
  });

  test("gets a diagnostic for each import that leads nowhere", async () => {
    const { diagnostics } = await bundle({
      "order.ts": `import { workflow } from "${SDK}";
import a from "not-installed";
import { b } from "./missing.ts";
export const order = workflow("order", () => [a, b]);`,
    });

    expect(diagnostics).toMatchObject([
      { code: "code/unresolved-import", file: "order.ts", line: 2 },
      { code: "code/unresolved-import", file: "order.ts", line: 3 },
    ]);
  });

  test("gets every error of syntax and of names at once", async () => {
    const { ok, diagnostics } = await bundle({
      "order.ts": `import { workflow } from "${SDK}";
import { a } from "./a.ts";
import { b } from "./b.ts";
export const order = workflow("order", () => [a, b]);`,
      "a.ts": "export const a = ;\n",
      "b.ts": "\n\nexport const b = 1 1;\n",
    });

    expect(ok).toBe(false);
    expect(diagnostics).toMatchObject([
      { severity: "error", code: "code/syntax", file: "a.ts", line: 1, column: 18 },
      { severity: "error", code: "code/syntax", file: "b.ts", line: 3 },
    ]);
  });

  test("gets an error if only esbuild can read it, since its steps would enter the sandbox", async () => {
    const { ok, diagnostics } = await bundle({
      "order.ts": `import { step, workflow } from "${SDK}";
const mark = (_: unknown) => {};
export @mark class Late {}
export const order = workflow("order", () => Late);
export const s = step("s", () => 1);`,
    });

    expect(ok).toBe(false);
    expect(diagnostics).toMatchObject([{ code: "code/syntax", file: "order.ts", line: 3 }]);
  });

  test("gets a diagnostic if it does not exist", async () => {
    expect(await bundleWorkflows(join(folderWith({}), "none.ts"))).toMatchObject({
      ok: false,
      diagnostics: [{ code: "code/unreadable-file", file: "none.ts" }],
      inputs: [],
    });
  });

  test("gets the warnings of esbuild beside a bundle", async () => {
    const bundled = await bundle({
      "order.ts": `import { workflow } from "${SDK}";
export const order = workflow("order", () => import.meta.url);`,
    });

    expect(bundled).toMatchObject({
      ok: true,
      diagnostics: [{ severity: "warning", code: "code/suspicious", file: "order.ts", line: 2 }],
    });
  });
});
