import { spawn } from "node:child_process";

export type Finished = Readonly<{ code: number; output: string }>;

export type CommandOptions = Readonly<{ cwd?: string; env?: NodeJS.ProcessEnv }>;

/**
 * Runs a command of this checkout to its end, or to ours if that comes first; its output is kept,
 * stdout and stderr together.
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  { cwd, env = process.env }: CommandOptions = {},
): Promise<Finished> {
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...env, NO_COLOR: "1" },
    ...(cwd !== undefined && { cwd }),
  });
  const endToo = () => child.kill();
  process.once("exit", endToo);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      process.off("exit", endToo);
      resolve({ code: code ?? 1, output });
    });
  });
}
