// What every script of `npm run` understands: `--help` prints the comment that opens its file, and an
// option that it does not know ends it with a sentence.

import { readFileSync } from "node:fs";
import { type ParseArgsConfig, parseArgs } from "node:util";

/** Not what was asked for is wrong, but how: as shells have it. */
const WRONG_USE = 2;

/** Reads the command line of the script in this file. */
export function readCommandLine<T extends ParseArgsConfig>(
  script: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  printHelp(script);
  try {
    return parseArgs(config);
  } catch (cause) {
    // The parser goes on to say how positional arguments are told from options: not here.
    const [sentence] = (cause instanceof Error ? cause.message : String(cause)).split(". ");
    return stop(`${sentence?.replace(/\.$/, "")}. --help lists the options.`);
  }
}

/** For scripts that hand everything else on: prints the help, and ends, where it is asked for. */
export function printHelp(script: string): void {
  if (!process.argv.slice(2).some((argument) => argument === "--help" || argument === "-h")) return;
  const lines = readFileSync(script, "utf8").split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  const help = lines.slice(0, end).map((line) => line.replace(/^\/\/ ?/, ""));
  process.stdout.write(`${help.join("\n")}\n`);
  process.exit(0);
}

/** The number that an option says; ends the script where it says none. */
export function wholeNumber(option: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return stop(`--${option} is "${text}", but must be a whole number.`);
}

export function stop(sentence: string): never {
  console.error(sentence);
  process.exit(WRONG_USE);
}
