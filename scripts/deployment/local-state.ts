// The state that `local:up` leaves for others: where the deployment on this machine is, and its
// process.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { runCommand } from "../run-command.ts";

const HOME = join(import.meta.dirname, "../../.fermata");
const FILE = join(HOME, "local.json");

/** The folder for the files of the emulator and the deployment. */
export const LOCAL_FOLDER = join(HOME, "local");

const LocalState = z.object({
  /** Absent until the deployment answers. */
  apiUrl: z.string().optional(),
  endpoint: z.string(),
  region: z.string(),
  /** Of the emulator. */
  pid: z.number(),
  outputs: z.record(z.string(), z.string()).optional(),
});

export type LocalState = Readonly<z.infer<typeof LocalState>>;

/** What an earlier `local:up` wrote, whether it still runs or not. */
export function readLocalState(): LocalState | undefined {
  try {
    return LocalState.parse(JSON.parse(readFileSync(FILE, "utf8")));
  } catch {
    return undefined; // Never started, or an unusable file.
  }
}

/** Readers see the old file or the new one, never a part. */
export function writeLocalState(state: LocalState): void {
  mkdirSync(HOME, { recursive: true });
  writeFileSync(`${FILE}.new`, `${JSON.stringify(state, undefined, 2)}\n`);
  renameSync(`${FILE}.new`, FILE);
}

/** Removes the file: nothing runs any more. */
export function forgetLocalState(): void {
  rmSync(FILE, { force: true });
}

/** Removes the file, and everything that the emulator and the deployment wrote. */
export function removeLocalState(): void {
  forgetLocalState();
  rmSync(LOCAL_FOLDER, { recursive: true, force: true });
}

/**
 * Whether its emulator runs: after a restart of the machine its pid may belong to another process.
 */
export async function isRunning({ pid }: LocalState): Promise<boolean> {
  return (await commandOf(pid)).includes("emulator.py");
}

/**
 * The command line of a process; empty if there is none. Small machines have no `ps`, others no
 * /proc.
 */
async function commandOf(pid: number): Promise<string> {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    const told = await runCommand("ps", ["-o", "args=", "-p", String(pid)]).catch(() => undefined);
    return told?.output ?? "";
  }
}
