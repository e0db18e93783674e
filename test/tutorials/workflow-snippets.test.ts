import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { bundleWorkflows } from "../../lib/bundler/bundle-workflows.ts";
import * as sdk from "../../lib/workflow/index.ts";
import { blocksOf } from "./page-blocks.ts";

const house = resolve(import.meta.dirname, "../..");
const textOf = (page: string) => readFileSync(join(house, page), "utf8");
const REFERENCE = "docs/reference/workflows.md";

describe("snippets of workflows", () => {
  const snippets = [REFERENCE, "README.md"].flatMap((page) =>
    blocksOf(textOf(page))
      .filter(({ info, text }) => info === "ts" && text.includes("fermata-engine/workflow"))
      .filter(({ text }) => !text.includes("fermata-engine/embedded"))
      .map(({ text }) => [page, text] as const),
  );

  test("are on the pages", () => {
    expect(snippets.length).toBeGreaterThanOrEqual(2);
  });

  test.each(snippets)("on %s can be deployed without a warning", async (_, text) => {
    const folder = await mkdtemp(join(tmpdir(), "fermata-snippet-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "snippet.ts"), text);

    const bundled = await bundleWorkflows(join(folder, "snippet.ts"));

    expect(bundled).toMatchObject({ ok: true, diagnostics: [] });
  });
});

describe("the reference of the SDK", () => {
  // The bundler imports these; authors do not.
  const internal = ["declareExports", "scope"];
  const names = Object.keys(sdk).filter((name) => !internal.includes(name));

  test.each(names)("mentions %s", (name) => {
    expect(textOf(REFERENCE)).toMatch(new RegExp(`\`[^\`\n]*\\b${name}\\b`));
  });
});
