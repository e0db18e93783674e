import { type ChildProcess, spawn } from "node:child_process";

export type Finished = Readonly<{ code: number; output: string }>;

export type CommandOptions = Readonly<{
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** It starts commands itself: all of them are one group, and end together. */
  group?: boolean;
}>;

/** How long a group has to end by itself after the signal. */
const GRACE_MS = 3_000;

/** The commands that run in their own group, and what ends each. */
const groups = new Set<() => Promise<void>>();

/**
 * Runs a command of this checkout until it ends or this process does; returns stdout and stderr
 * together.
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  { cwd, env = process.env, group = false }: CommandOptions = {},
): Promise<Finished> {
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...env, NO_COLOR: "1" },
    detached: group,
    ...(cwd !== undefined && { cwd }),
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const closed = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  const endToo = () => (group ? signalGroup(child, "SIGKILL") : child.kill());
  const endInTime = () => endGroup(child, closed);
  process.once("exit", endToo);
  if (group) groups.add(endInTime);
  try {
    return { code: (await closed) ?? 1, output };
  } finally {
    process.off("exit", endToo);
    groups.delete(endInTime);
  }
}

/**
 * Ends every running group, with all processes that its command has started: for signal handlers.
 */
export async function endGroups(): Promise<void> {
  await Promise.all([...groups].map((end) => end()));
}

/** It has ended when no process holds the command's output any more, which its children share. */
async function endGroup(child: ChildProcess, closed: Promise<unknown>): Promise<void> {
  const over = closed.catch(() => {});
  signalGroup(child, "SIGTERM");
  const patience = setTimeout(() => signalGroup(child, "SIGKILL"), GRACE_MS);
  await over;
  clearTimeout(patience);
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // No process is left in it.
  }
}
