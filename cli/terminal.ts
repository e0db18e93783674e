import { styleText } from "node:util";

/** Where a command speaks, and the surroundings it was called in. */
export type Terminal = Readonly<{
  /** A line of the answer. */
  print(line: string): void;
  /** A line about the command itself: errors, progress. */
  complain(line: string): void;
  /** A person looks on: answers are laid out as tables. */
  isInteractive: boolean;
  /** Marks text, where the terminal has colours and NO_COLOR is not set. */
  mark(kind: Mark, text: string): string;
  environment: Readonly<Record<string, string | undefined>>;
}>;

export type Mark = "heading" | "faint" | "good" | "bad";

/** The terminal of this process. */
export function processTerminal(): Terminal {
  // `fermata ls | head -1` closes the pipe early: that is the reader's wish, not a failure.
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
