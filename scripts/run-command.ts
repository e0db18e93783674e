import { spawn } from "node:child_process";

export type Finished = Readonly<{ code: number; output: string }>;

/** Runs a command of this checkout to its end; its output is kept, stdout and stderr together. */
export async function runCommand(command: string, args: readonly string[]): Promise<Finished> {
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}
