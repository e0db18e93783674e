import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { blocksOf, patternsOf } from "./page-blocks.ts";
import { ServerInShell } from "./server-in-shell.ts";

const house = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(house, "docs/tutorials/first-process.md"), "utf8");
const blocks = blocksOf(page);
const ON_PAGE = "http://127.0.0.1:7373";

/** What a clone has that the commands of the page use. */
const CLONED = ["cli", "lib", "scripts", "package.json", "package-lock.json", "vitest.config.ts"];

const run = promisify(execFile);

describe("the tutorial of a first process", () => {
  test("works as it is written, and prints what the page shows", async () => {
    const clone = mkdtempSync(join(tmpdir(), "fermata-tutorial-"));
    const shell = { cwd: clone, env: plainEnvironment() };
    let server: ServerInShell | undefined;
    onTestFinished(async () => {
      await server?.end("SIGKILL");
      rmSync(clone, { recursive: true });
    });
    for (const part of CLONED) cpSync(join(house, part), join(clone, part), { recursive: true });
    symlinkSync(join(house, "node_modules"), join(clone, "node_modules"));
    let prints = async (_: RegExp): Promise<void> => {};

    for (const { info, text } of blocks) {
      if (info === "sh server") {
        await server?.end("SIGINT");
        const started = new ServerInShell(`${text.trim()} --port 0`, shell);
        server = started;
        prints = (pattern) => started.prints(pattern);
        await prints(/ready at .*\n/);
        shell.env.FERMATA_URL = started.url;
      } else if (info === "sh") {
        // The page says to stop the engine before its data is removed.
        if (text.startsWith("rm ")) await server?.end("SIGINT");
        const { stdout } = await run("bash", ["-euo", "pipefail", "-c", text], shell);
        prints = async (pattern) => expect(stripVTControlCharacters(stdout)).toMatch(pattern);
      } else if (info === "text") {
        const shown = text.replaceAll(ON_PAGE, server?.url ?? ON_PAGE);
        for (const pattern of patternsOf(shown)) await prints(pattern);
      }
    }

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

/** The environment of a terminal: without the npm and the vitest that run this test. */
function plainEnvironment(): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return { PATH, HOME };
}
