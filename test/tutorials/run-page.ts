import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { expect, onTestFinished } from "vitest";
import { type PageBlock, patternsOf } from "./page-blocks.ts";
import { ServerInShell } from "./server-in-shell.ts";

const house = resolve(import.meta.dirname, "../..");
const ON_PAGE = "http://127.0.0.1:7373";

/** What a clone has that the commands of the pages use. */
const CLONED = ["cli", "lib", "scripts", "package.json", "package-lock.json", "vitest.config.ts"];

const run = promisify(execFile);

/**
 * Runs the blocks of a page in a clone, as a reader would, and compares the output with what the
 * page shows; returns the folder of the clone. `also` are further parts that it has.
 */
export async function runPage(
  blocks: readonly PageBlock[],
  { also = [] }: Readonly<{ also?: readonly string[] }> = {},
): Promise<string> {
  const clone = mkdtempSync(join(tmpdir(), "fermata-tutorial-"));
  const shell = { cwd: clone, env: plainEnvironment() };
  let server: ServerInShell | undefined;
  onTestFinished(async () => {
    await server?.end("SIGKILL");
    rmSync(clone, { recursive: true });
  });
  for (const part of [...CLONED, ...also])
    cpSync(join(house, part), join(clone, part), { recursive: true });
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
  return clone;
}

/** The environment of a terminal: without the npm and the vitest that run this test. */
function plainEnvironment(): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return { PATH, HOME };
}
