import { COMMANDS } from "./commands.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { explainFailure } from "./explain-failure.ts";
import type { Terminal } from "./terminal.ts";
import { UsageError } from "./usage-error.ts";

/** Runs the command in the arguments; errors are printed, never thrown. */
export async function runCommandLine(
  args: readonly string[],
  terminal: Terminal,
): Promise<ExitCode> {
  const [name = "--help", ...rest] = args;
  try {
    if (name === "--help" || name === "-h" || name === "help") {
      terminal.print(overview());
      return args.length === 0 ? EXIT.usage : EXIT.ok;
    }
    const found = COMMANDS.find((command) => command.name === name);
    if (found !== undefined) return await found.run(rest, terminal);
    const known = COMMANDS.map((command) => command.name).join(", ");
    throw new UsageError(`Unknown command "${name}". The commands are: ${known}.`);
  } catch (error) {
    const { exitCode, lines } = explainFailure(error, { asJson: rest.includes("--json") });
    for (const line of lines) terminal.complain(line);
    return exitCode;
  }
}

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  return [
    "fermata COMMAND [options]",
    "",
    "  Runs a durable workflow engine, or calls a running one.",
    "",
    ...COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    "",
    "`fermata COMMAND --help` shows the options of a command.",
    "All commands except dev and cost call the server at --url or FERMATA_URL (default http://127.0.0.1:7373).",
    "Exit codes: 0 success, 1 refused or failed, 2 usage error, 3 no server responds.",
  ].join("\n");
}
