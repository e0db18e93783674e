import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { blocksOf } from "./page-blocks.ts";
import { runPage } from "./run-page.ts";

const house = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(house, "docs/tutorials/first-workflow.md"), "utf8");
const blocks = blocksOf(page);

describe("the tutorial of a first workflow", () => {
  test("works as it is written, and prints what the page shows", async () => {
    const clone = await runPage(blocks);

    expect(existsSync(join(clone, "lib"))).toBe(true);
    expect(existsSync(join(clone, "examples/first-workflow"))).toBe(false);
  });

  test("marks every block as something to run or to see", () => {
    const infos = new Set(blocks.map(({ info }) => info));

    expect([...infos].sort()).toEqual(["sh", "sh server", "text"]);
    expect(page.match(/^```/gm)).toHaveLength(2 * blocks.length);
  });
});
