import { runCommandLine } from "../../cli/run-command-line.ts";
import type { Terminal } from "../../cli/terminal.ts";

/** The output of a command, and how it ended. */
export type Said = Readonly<{
  exitCode: number;
  out: readonly string[];
  errors: readonly string[];
}>;

export type Surroundings = Readonly<{
  isInteractive?: boolean;
  environment?: Readonly<Record<string, string>>;
}>;

/** Runs a command in this process, as a script with a pipe would see it by default. */
export async function say(
  args: readonly string[],
  { isInteractive = false, environment = {} }: Surroundings = {},
): Promise<Said> {
  const out: string[] = [];
  const errors: string[] = [];
  const terminal: Terminal = {
    print: (line) => out.push(line),
    complain: (line) => errors.push(line),
    isInteractive,
    mark: (_, text) => text,
    environment,
  };
  const exitCode = await runCommandLine(args, terminal);
  return { exitCode, out, errors };
}
