import { styleText } from "node:util";

/** The output and the environment of a command. */
export type Terminal = Readonly<{
  /** A line of the answer. */
  print(line: string): void;
  /** A line about the command itself: errors, progress. */
  complain(line: string): void;
  /** Output goes to a terminal: lists are printed as tables. */
  isInteractive: boolean;
  /** Styles text if the terminal has colours and NO_COLOR is not set. */
  mark(kind: Mark, text: string): string;
  environment: Readonly<Record<string, string | undefined>>;
}>;

export type Mark = "heading" | "faint" | "good" | "bad";

/** The terminal of this process. */
export function processTerminal(): Terminal {
  // `fermata ls | head -1` closes the pipe early, which is not a failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });
  return {
    print: (line) => process.stdout.write(`${line}\n`),
    complain: (line) => process.stderr.write(`${line}\n`),
    isInteractive: process.stdout.isTTY === true,
    mark: (kind, text) => styleText(STYLES[kind], text, { stream: process.stdout }),
    environment: process.env,
  };
}

const STYLES = { heading: "bold", faint: "dim", good: "green", bad: "red" } as const;
