import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { blocksOf } from "./page-blocks.ts";
import { runPage } from "./run-page.ts";

const house = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(house, "docs/tutorials/first-process.md"), "utf8");
const blocks = blocksOf(page);

describe("the tutorial of a first process", () => {
  test("works as it is written, and prints what the page shows", async () => {
    const clone = await runPage(blocks);

    expect(existsSync(join(clone, "examples/first-process"))).toBe(false);
  });

  test("marks every block as something to run, to see or to run on AWS", () => {
    const infos = new Set(blocks.map(({ info }) => info));

    expect([...infos].sort()).toEqual(["sh", "sh aws", "sh server", "text"]);
    expect(page.match(/^```/gm)).toHaveLength(2 * blocks.length);
  });

  test("has no comments at the end of commands: zsh would pass them as arguments", () => {
    const commands = blocks.filter(({ info }) => info.startsWith("sh"));

    expect(commands.filter(({ text }) => /(^|\s)#/m.test(text))).toEqual([]);
  });

  test("names scripts and commands that exist where it needs the emulator or an account", () => {
    const lines = blocks.flatMap(({ info, text }) =>
      info === "sh aws" ? text.trim().split("\n") : [],
    );
    const known = lines.filter(isKnown);

    expect(lines.length).toBeGreaterThan(10);
    expect(known).toEqual(lines);
    expect(isKnown("npm run local:sideways")).toBe(false);
    expect(isKnown("npm run -s fermata -- fly")).toBe(false);
  });
});

const Manifest = z.object({ scripts: z.record(z.string(), z.string()) });
const { scripts } = Manifest.parse(JSON.parse(readFileSync(join(house, "package.json"), "utf8")));

function isKnown(line: string): boolean {
  const [, command] = /^npm run -s fermata -- ([\w-]+)/.exec(line) ?? [];
  if (command !== undefined) return existsSync(join(house, "cli/commands", `${command}.ts`));
  const [, script] = /^npm run ([\w:-]+)/.exec(line) ?? [];
  if (script !== undefined) return script in scripts;
  return /^(npm install$|npx cdk (bootstrap|deploy)\b|export FERMATA_URL=)/.test(line);
}
