// The emulator is a Python program. It gets its own virtual environment below node_modules, so
// nothing is installed on the machine and deleting node_modules deletes it too.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../run-command.ts";

const PINS = join(import.meta.dirname, "requirements.txt");
const HOME = join(import.meta.dirname, "../../node_modules/.cache/fermata-emulator");

/** The Python that has the emulator's packages; they are installed when they are missing or the pins changed. */
export async function emulatorPython(log: (line: string) => void): Promise<string> {
  const folder = join(
    HOME,
    createHash("sha256").update(readFileSync(PINS)).digest("hex").slice(0, 12),
  );
  if (!existsSync(folder)) await install(folder, log);
  return pythonOf(folder);
}

/**
 * Created under a temporary name and renamed when complete: an interrupted install leaves nothing
 * behind.
 */
async function install(folder: string, log: (line: string) => void): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  try {
    await mkdir(HOME, { recursive: true });
    log("Setting up the AWS emulator (a Python environment below node_modules), about 20 s…");
    await must(["python3", "-m", "venv", draft], whyNoEnvironment);
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", PINS];
    await must([pythonOf(draft), ...pip], whyNoPackages);
    await rename(draft, folder).catch((cause: unknown) => {
      // Another process was faster: its environment is just as good.
      if (!existsSync(folder)) throw cause;
    });
    log("The AWS emulator is set up.");
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function pythonOf(folder: string): string {
  return join(folder, "bin", "python");
}

async function must(command: readonly string[], why: (output: string) => string): Promise<void> {
  const [program = "", ...args] = command;
  const { code, output } = await runCommand(program, args, { group: true }).catch(
    (cause: unknown) => ({ code: 127, output: String(cause) }),
  );
  if (code !== 0) throw new Error(why(output));
}

function whyNoEnvironment(output: string): string {
  if (output.includes("ENOENT")) {
    return "The AWS emulator needs python3 (3.10 or newer), which is not on the PATH. Install it (Debian: apt-get install python3 python3-venv).";
  }
  if (/ensurepip|No module named venv/.test(output)) {
    return "The AWS emulator needs Python's venv module, which this python3 lacks. Install it (Debian: apt-get install python3-venv).";
  }
  return `python3 -m venv failed: ${lastLine(output)}`;
}

function whyNoPackages(output: string): string {
  return `The emulator's packages could not be installed with pip: ${lastLine(output)}. Check the network, or pip's index settings, and python3 --version (3.10 or newer).`;
}

function lastLine(output: string): string {
  return output.trimEnd().split("\n").at(-1) ?? "";
}
