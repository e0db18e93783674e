import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { drawImports, reduced, withDrawings } from "./import-graph.ts";

const house = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(house, "docs/explanation/architecture.md"), "utf8");

describe("the page about the architecture", () => {
  test("shows the imports as they are; if not, run node scripts/draw-imports.ts", () => {
    const drawings = drawImports();

    expect(Object.values(drawings).filter((drawing) => !page.includes(drawing))).toEqual([]);
    expect(withDrawings(page, drawings)).toBe(page);
  });

  test("leaves out imports that are implied by others", () => {
    const graph = new Map([
      ["a", new Set(["b", "c"])],
      ["b", new Set(["c"])],
      ["c", new Set<string>()],
    ]);

    expect(reduced(graph).get("a")).toEqual(new Set(["b"]));
  });

  test.for([
    ["docs/explanation/architecture.md", 80],
    ["CONTRIBUTING.md", 20],
  ] as const)("%s names files and folders that exist", ([name, atLeast]) => {
    const text = readFileSync(join(house, name), "utf8");
    const named = text.matchAll(/`((?:lib|functions|cdk|cli|test|scripts)\/[\w./-]+)`/g);
    const paths = [...named].map(([, path = ""]) => path);

    expect(paths.length).toBeGreaterThan(atLeast);
    expect(paths.filter((path) => !existsSync(join(house, path)))).toEqual([]);
  });

  test("CONTRIBUTING.md names every folder of the engine", () => {
    const text = readFileSync(join(house, "CONTRIBUTING.md"), "utf8");
    const folders = readdirSync(join(house, "lib/engine"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);

    expect(folders).toContain("step");
    expect(folders.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  const walks = page.split(/^### /m).filter((section) => section.startsWith("Walk"));

  test.for(walks.map((walk) => [walk.split("\n")[0] ?? "", walk] as const))(
    "counts the files of %s",
    ([, walk]) => {
      const files = [...walk.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file]) => file);
      const [, counted] = /(\d+) files/.exec(walk) ?? [];

      expect(files.length).toBe(Number(counted));
      expect(new Set(files).size).toBe(files.length);
    },
  );

  test("has the three walks", () => {
    expect(walks).toHaveLength(3);
  });
});
