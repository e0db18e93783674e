import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";

/** Each file is planted with its one import; `rule` must refuse it, or nothing when undefined. */
const PLANTED: readonly { file: string; imports: string; rule?: string }[] = [
  {
    file: "lib/definition/a.ts",
    imports: 'import "../kernel/k.ts"',
    rule: "definition-imports-nothing",
  },
  {
    file: "lib/definition/b.ts",
    imports: 'import "zod"',
    rule: "definition-imports-nothing",
  },
  {
    file: "lib/definition/c.ts",
    imports: 'import "temporal-polyfill"',
    rule: "temporal-only-in-time",
  },
  { file: "lib/definition/time/zone.ts", imports: 'import "temporal-polyfill"' },
  { file: "lib/kernel/a.ts", imports: 'import "node:fs"', rule: "kernel-imports-definition" },
  { file: "lib/kernel/b.ts", imports: 'import "zod"', rule: "kernel-imports-definition" },
  { file: "lib/kernel/c.ts", imports: 'import "../ports/p.ts"', rule: "kernel-imports-definition" },
  {
    file: "lib/kernel/d.ts",
    imports: 'import type { P } from "../ports/p.ts"',
    rule: "kernel-imports-definition",
  },
  { file: "lib/kernel/e.ts", imports: 'import "../definition/d.ts"' },
  {
    file: "lib/frontends/bpmn/a.ts",
    imports: 'import "../journey/j.ts"',
    rule: "front-end-imports-definition-and-parser",
  },
  {
    file: "lib/frontends/bpmn/b.ts",
    imports: 'import "node:fs"',
    rule: "front-end-imports-definition-and-parser",
  },
  { file: "lib/frontends/bpmn/c.ts", imports: 'import "saxen"' },
  { file: "lib/ports/a.ts", imports: 'import "../kernel/k.ts"', rule: "ports-use-kernel-types" },
  { file: "lib/ports/b.ts", imports: 'import type { K } from "../kernel/k.ts"' },
  { file: "lib/ports/c.ts", imports: 'import "zod/mini"' },
  {
    file: "lib/ports/d.ts",
    imports: 'import "zod"',
    rule: "ports-import-definition-and-kernel",
  },
  {
    file: "lib/engine/a.ts",
    imports: 'import "../adapters/local/l.ts"',
    rule: "engine-imports-kernel-and-ports",
  },
  {
    file: "lib/engine/b.ts",
    imports: 'import "../frontends/journey/j.ts"',
    rule: "engine-imports-kernel-and-ports",
  },
  {
    file: "lib/engine/c.ts",
    imports: 'import "@aws-sdk/client-sqs"',
    rule: "engine-imports-kernel-and-ports",
  },
  { file: "lib/engine/d.ts", imports: 'import "../ports/p.ts"' },
  { file: "lib/shapes/a.ts", imports: 'import "../engine/e.ts"', rule: "shapes-are-types" },
  { file: "lib/shapes/b.ts", imports: 'import "../kernel/k.ts"', rule: "shapes-run-nothing" },
  { file: "lib/shapes/c.ts", imports: 'import type { K } from "../kernel/k.ts"' },
  ...[
    ["storage", "rows"],
    ["rows", "step"],
    ["step", "drive"],
    ["step", "signals"],
    ["drive", "messages"],
    ["calls", "recovery", "use-cases"],
    ["recovery", ""],
  ].map(([from, to, layer = from]) => ({
    file: `lib/engine/${from}/up-${to}.ts`,
    imports: `import "../${to ? `${to}/l` : "e"}.ts"`,
    rule: `engine-layer-${layer}`,
  })),
  {
    file: "lib/engine/rows/types.ts",
    imports: 'import type { E } from "../step/l.ts"',
    rule: "engine-layer-rows",
  },
  { file: "lib/engine/recovery/down.ts", imports: 'import "../storage/l.ts"' },
  { file: "lib/engine/events/beside.ts", imports: 'import "../signals/l.ts"' },
  { file: "lib/engine/storage/world.ts", imports: 'import type { E } from "../world.ts"' },
  {
    file: "lib/adapters/sqs/a.ts",
    imports: 'import "../local/l.ts"',
    rule: "adapter-imports-ports",
  },
  {
    file: "lib/adapters/sqs/b.ts",
    imports: 'import "../../engine/e.ts"',
    rule: "adapter-imports-ports",
  },
  {
    file: "lib/adapters/sqs/c.ts",
    imports: 'import "../../kernel/k.ts"',
    rule: "adapters-use-kernel-types",
  },
  { file: "lib/adapters/sqs/d.ts", imports: 'import "@aws-sdk/client-sqs"' },
  { file: "lib/adapters/local/m.ts", imports: 'import "node:sqlite"' },
  {
    file: "lib/api/a.ts",
    imports: 'import "../adapters/local/l.ts"',
    rule: "api-imports-engine",
  },
  { file: "lib/api/b.ts", imports: 'import "zod"' },
  { file: "lib/client/a.ts", imports: 'import "../api/p.ts"', rule: "client-uses-api-types" },
  { file: "lib/client/b.ts", imports: 'import "../engine/e.ts"', rule: "client-imports-api-types" },
  { file: "lib/client/c.ts", imports: 'import type { P } from "../api/p.ts"' },
  {
    file: "lib/client/d.ts",
    imports: 'import "@smithy/signature-v4"',
    rule: "client-imports-api-types",
  },
  {
    file: "lib/client/e.ts",
    imports: 'import "./aws/index.ts"',
    rule: "client-imports-api-types",
  },
  { file: "lib/client/aws/a.ts", imports: 'import "@smithy/signature-v4"' },
  {
    file: "lib/client/aws/b.ts",
    imports: 'import "@aws-sdk/client-sqs"',
    rule: "client-aws-signs",
  },
  {
    file: "lib/embedded/a.ts",
    imports: 'import "../adapters/dynamodb/s.ts"',
    rule: "embedded-needs-no-aws",
  },
  { file: "lib/embedded/b.ts", imports: 'import "../adapters/local/l.ts"' },
  { file: "lib/embedded/c.ts", imports: 'import "../../cli/c.ts"', rule: "lib-stays-in-lib" },
  {
    file: "lib/embedded/d.ts",
    imports: 'import "ajv"',
    rule: "published-code-uses-dependencies",
  },
  {
    file: "lib/cost/a.ts",
    imports: 'import "../adapters/dynamodb/s.ts"',
    rule: "cost-counts-without-aws",
  },
  { file: "lib/cost/b.ts", imports: 'import "../adapters/dynamodb/units.ts"' },
  {
    file: "cli/a.ts",
    imports: 'import "../lib/engine/e.ts"',
    rule: "cli-uses-client-and-embedded",
  },
  { file: "cli/b.ts", imports: 'import "../lib/embedded/index.ts"' },
  {
    file: "functions/sweep/a.ts",
    imports: 'import "../advance/h.ts"',
    rule: "function-stands-alone",
  },
  {
    file: "cdk/a.ts",
    imports: 'import "../functions/advance/h.ts"',
    rule: "cdk-names-functions-by-path",
  },
  {
    file: "console/a.ts",
    imports: 'import type { E } from "../lib/engine/e.ts"',
    rule: "console-uses-api-only",
  },
  {
    file: "examples/order/a.ts",
    imports: 'import "../../lib/embedded/index.ts"',
    rule: "examples-import-the-package",
  },
  { file: "examples/order/b.ts", imports: 'import "fermata-engine/embedded"' },
  { file: "test/a.ts", imports: 'import "./b.ts"', rule: "no-cycles" },
  { file: "test/c.ts", imports: 'import "./gone.ts"', rule: "no-unresolvable" },
];

/** What the planted files import: valid files of every folder. */
const TARGETS = [
  ...["storage", "rows", "step", "drive", "signals", "messages", "recovery"].map(
    (layer) => `engine/${layer}/l`,
  ),
  "engine/world",
  ...["definition/d", "kernel/k", "ports/p", "engine/e", "frontends/journey/j", "adapters/local/l"],
  ...[
    "adapters/dynamodb/s",
    "adapters/dynamodb/units",
    "api/p",
    "client/index",
    "client/aws/index",
  ],
  ...["embedded/index", "index"],
].map((path) => `lib/${path}.ts`);
const PACKAGES = [
  "zod",
  "saxen",
  "temporal-polyfill",
  "@aws-sdk/client-sqs",
  "@smithy/signature-v4",
  "ajv",
];

const Cruise = z.object({
  summary: z.object({
    violations: z.array(z.object({ from: z.string(), rule: z.object({ name: z.string() }) })),
  }),
});

describe("the import rules", () => {
  const house = resolve(import.meta.dirname, "../..");
  const tree = mkdtempSync(join(tmpdir(), "fermata-imports-"));
  const refusals = new Map<string, readonly string[]>();

  beforeAll(async () => {
    plantTree(house, tree);
    for (const { from, rule } of await cruise(house, tree)) {
      refusals.set(from, [...(refusals.get(from) ?? []), rule.name]);
    }
  });
  afterAll(() => rmSync(tree, { recursive: true }));

  for (const { file, imports, rule } of PLANTED) {
    test(`${rule === undefined ? "allow" : `refuse (${rule})`} ${imports} in ${file}`, () => {
      const expected = rule === undefined ? [] : [rule];

      expect(refusals.get(file) ?? []).toEqual(expected);
    });
  }
});

/** Lays out a small project with our own configuration, the planted files and stand-in packages. */
function plantTree(house: string, tree: string) {
  for (const config of [".dependency-cruiser.mjs", "tsconfig.json"]) {
    cpSync(join(house, config), join(tree, config));
  }
  const versions = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, "1.0.0"]));
  write(
    "package.json",
    JSON.stringify({
      name: "fermata-engine",
      type: "module",
      dependencies: versions(PACKAGES.filter((name) => name !== "ajv")),
      devDependencies: versions(["ajv"]),
    }),
  );
  for (const name of PACKAGES) {
    const manifest = { name, version: "1.0.0", type: "module", main: "index.js" };
    write(`node_modules/${name}/package.json`, JSON.stringify(manifest));
    write(`node_modules/${name}/index.js`, "export {};");
    write(`node_modules/${name}/mini/index.js`, "export {};");
  }
  for (const target of [...TARGETS, "cli/c.ts", "functions/advance/h.ts"]) {
    write(target, "export type P = 1; export type K = 1; export type E = 1;");
  }
  write("test/b.ts", 'import "./a.ts";'); // The other half of the cycle: it is reported once.
  for (const { file, imports } of PLANTED) write(file, `${imports};`);

  function write(path: string, text: string) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
}

async function cruise(house: string, tree: string) {
  const depcruise = join(house, "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs");
  const rooms = ["lib", "cli", "functions", "cdk", "console", "examples", "test"];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [depcruise, "--output-type", "json", ...rooms],
    { cwd: tree, maxBuffer: 16 * 1024 * 1024 },
  );
  return Cruise.parse(JSON.parse(stdout)).summary.violations;
}
