import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BUNDLER_CODES } from "../../../lib/bundler/codes.ts";
import { MAX_DIAGNOSTICS } from "../../../lib/definition/limits.ts";
import { analyseBundle } from "../../../lib/frontends/code/analyse.ts";
import { ANALYSIS_CODES, COMPILER_CODES } from "../../../lib/frontends/code/codes.ts";
import { sourceOf } from "../../bundler/author-folder.ts";

const SDK = "fermata-engine/workflow";

/** A bundle as esbuild writes it, with this at the top of a module. */
const bundled = (text: string) => `var __workflows = (() => {\n${text}\n})();`;

const codesOf = (text: string) => analyseBundle(text).map(({ code }) => code);

describe("what does not exist in a workflow", () => {
  test.each([
    ...[
      "fetch('x')",
      "new XMLHttpRequest()",
      "new WebSocket('x')",
      "require('x')",
      "Buffer.from('x')",
    ],
    ...[
      "setTimeout(f)",
      "setInterval(f)",
      "setImmediate(f)",
      "clearTimeout(1)",
      "queueMicrotask(f)",
    ],
    ...["process.env.A", "Deno.env", "Bun.env", "window.a", "document.a", "navigator.a"],
    ...[
      "performance.now()",
      "new Intl.NumberFormat()",
      "new WeakRef({})",
      "new FinalizationRegistry(f)",
    ],
    ...["new SharedArrayBuffer(1)", "Atomics.add()", "WebAssembly.compile()", "new Worker('x')"],
    ...["structuredClone({})", "new TextEncoder()", "new TextDecoder()", "new URL('x')"],
    ...[
      "new URLSearchParams()",
      "new Headers()",
      "new Blob()",
      "new FormData()",
      "new AbortController()",
    ],
    ...["crypto.subtle.digest()", "crypto['subtle']", "crypto.getRandomValues(f)"],
    ...["globalThis.fetch('x')", "globalThis.process.env", "x = { fetch }", "[...process.argv]"],
  ])("is refused: %s", (text) => {
    const diagnostics = analyseBundle(bundled(`var x; function f() {\n  ${text};\n}`));

    expect(diagnostics).toMatchObject([
      { severity: "error", code: "code/not-in-workflow", line: 3 },
    ]);
    expect(diagnostics[0]?.message).toMatch(/does not exist in a workflow\.$/);
    expect(diagnostics[0]?.hint).toMatch(/\.$/);
  });

  test.each([
    "typeof process",
    "typeof process !== 'undefined' && process.env.A",
    "typeof process === 'undefined' ? 0 : process.env.A",
    "if (typeof process !== 'undefined') { process.exit(); }",
    "const fetch = () => 1; fetch()",
    "({ process: 1 }).process",
    "process: for (;;) break process",
    "((process) => process.env)({})",
    "class A { fetch() {} static process = 1 }",
    "try {} catch (process) { process.x }",
    "const { process = 1, ...fetch } = {}; process + fetch",
    "function* require() { yield require }",
    "globalThis.process?.env",
    "crypto.randomUUID()",
    "const { randomUUID } = crypto",
    "new Date(); Date.now(); Math.random(); Date()",
    "Promise.resolve(1); Promise.reject; Promise.withResolvers()",
    "var later = () => hoisted(); function hoisted() {}",
    "JSON.stringify([Symbol.iterator, BigInt(1), new Map(), /x/u])",
  ])("is not found in: %s", (text) => {
    expect(analyseBundle(bundled(`function f() { ${text} }`))).toEqual([]);
  });

  test("includes modules that are loaded on the way", () => {
    expect(analyseBundle("async function f() { await import('x'); }")).toMatchObject([
      { severity: "error", code: "code/dynamic-import", line: 1, column: 28 },
    ]);
  });
});

describe("time and chance while a file is loaded", () => {
  test.each([
    ["const a = Date.now()", "code/clock-at-load"],
    ["const a = [new Date]", "code/clock-at-load"],
    ["const a = Date()", "code/clock-at-load"],
    ["const a = Math.random()", "code/chance-at-load"],
    ["const a = [crypto.randomUUID()]", "code/chance-at-load"],
    ["const a = (() => Date.now())()", "code/clock-at-load"],
    ["(function () { Date.now() }).call(null)", "code/clock-at-load"],
    ["(async () => { Date.now() })()", "code/clock-at-load"],
    ["class A { static at = Date.now() }", "code/clock-at-load"],
    ["class A { static { Date.now() } }", "code/clock-at-load"],
    ["class A { [Math.random()]() {} }", "code/chance-at-load"],
    ["if (true) { for (;;) Math.random() }", "code/chance-at-load"],
    ["var r = __commonJS({ 'a.js'(exports) { Math.random() } })", "code/chance-at-load"],
    ["var r = __esm({ 'a.js': function () { Math.random() } })", "code/chance-at-load"],
  ])("are refused: %s", (text, code) => {
    expect(analyseBundle(bundled(text))).toMatchObject([{ severity: "error", code, line: 2 }]);
  });

  test.each([
    "const a = () => Date.now()",
    "const a = new Date(0)",
    "class A { at = Date.now(); static f() { return Date.now() } #b = Math.random() }",
    "const a = { f() { return Math.random() } }",
    "const a = [1].map(() => Math.random())",
    "const Date = { now: () => 1 }; Date.now()",
  ])("are not found in: %s", (text) => {
    expect(analyseBundle(bundled(text))).toEqual([]);
  });

  test("are found through the SDK, by the author's file and line", async () => {
    const source = await sourceOf({
      "order.ts": `import { now, uuid as id, workflow } from "${SDK}";
import { other } from "./other.ts";
const started = now();
export const order = workflow("order", () => [started, now(), id(), other]);`,
      "other.ts": `import * as wf from "${SDK}";\n\nconst now = 1;\nexport const other = [wf.random(), now];`,
    });

    expect(analyseBundle(source)).toMatchObject([
      { code: "code/chance-at-load", file: "other.ts", line: 4 },
      { code: "code/clock-at-load", file: "order.ts", line: 3 },
    ]);
  });
});

describe("a warning", () => {
  test.each([
    ["Promise.all([])", "code/native-promise"],
    ["Promise.race([])", "code/native-promise"],
    ["Promise.any([])", "code/native-promise"],
    ["Promise.allSettled([])", "code/native-promise"],
    ["console.log(1)", "code/console"],
    ["(1).toLocaleString()", "code/locale"],
    ["'a'?.localeCompare('b')", "code/locale"],
  ])("is given for %s", (text, code) => {
    expect(analyseBundle(`function f() { ${text} }`)).toMatchObject([
      { severity: "warning", code },
    ]);
  });

  test("is not given for the SDK's own code, but for the author's", async () => {
    const source = await sourceOf({
      "order.ts": `import { all, any, race, workflow } from "${SDK}";
export const order = workflow("order", async () => {
  await Promise.all([all([1]), any([1]), race([1])]);
});`,
    });

    expect(analyseBundle(source)).toMatchObject([
      { code: "code/native-promise", file: "order.ts", line: 3 },
    ]);
  });
});

describe("the analysis of a bundle", () => {
  test("lists everything at once, by place, and the same thing in a line once", () => {
    expect(
      analyseBundle("fetch(fetch);\nprocess; Date.now();\nconsole.log();").map(
        ({ line, message }) => [line, message.split("`")[1]],
      ),
    ).toEqual([
      [1, "fetch"],
      [2, "process"],
      [2, "Date.now()"],
      [3, "console"],
    ]);
  });

  test("says how many problems it does not list", () => {
    const diagnostics = analyseBundle("fetch;\n".repeat(MAX_DIAGNOSTICS + 5));

    expect(diagnostics).toHaveLength(MAX_DIAGNOSTICS + 1);
    expect(diagnostics.at(-1)).toMatchObject({ severity: "error", code: "code/too-many-problems" });
    expect(diagnostics.at(-1)?.message).toContain("5 further");
  });

  test.each([
    ["a syntax error", "var a = 1;\nvar b = = 2;", "code/malformed-bundle", 2],
    ["a module", "export const a = 1;", "code/malformed-bundle", 1],
    ["garbage", "\u0000\uD800§".repeat(300_000), "code/malformed-bundle", 1],
    ["brackets in brackets", `x = ${"[".repeat(500_000)}`, "code/too-deep", 1],
    ["functions in functions", "(()=>".repeat(200_000), "code/too-deep", 1],
    ["a long chain of members", `x${".a".repeat(500_000)}`, "code/too-deep", 1],
  ])("of %s is one error with a line", (_what, text, code, line) => {
    expect(analyseBundle(text)).toMatchObject([{ severity: "error", code, line }]);
  });

  test("takes a large list", () => {
    expect(codesOf(`x = [${"1,".repeat(400_000)}]; fetch;`)).toEqual(["code/not-in-workflow"]);
  });

  test("never throws, whatever the text", () => {
    const words = fc.constantFrom(
      ..."( ) [ ] { } => ; , . ?. ` = == async await function class static var let const".split(
        " ",
      ),
      ..."typeof import new fetch Date now Math random process x y '\n /* // extends super #a".split(
        " ",
      ),
    );
    const program = fc.array(words, { maxLength: 30 }).map((list) => list.join(" "));
    fc.assert(
      fc.property(fc.oneof(fc.string(), program), (text) => {
        for (const { code } of analyseBundle(text)) expect(ANALYSIS_CODES).toContain(code);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("every code of workflows in code", () => {
  test("has its heading in the reference, and every heading a code", () => {
    const reference = new URL("../../../docs/reference/diagnostics.md", import.meta.url);
    const headings = readFileSync(reference, "utf8")
      .split("\n")
      .filter((line) => line.startsWith("## code/"))
      .map((line) => line.slice("## ".length));

    expect(headings.toSorted()).toEqual(
      [...ANALYSIS_CODES, ...BUNDLER_CODES, ...COMPILER_CODES].toSorted(),
    );
  });
});
