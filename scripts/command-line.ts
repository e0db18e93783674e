// What every script of `npm run` supports: `--help` prints the comment at the top of its file, and
// an unknown option ends it with a sentence.

import { readFileSync } from "node:fs";
import { type ParseArgsConfig, parseArgs } from "node:util";

/** The exit code for wrong usage, as in shells. */
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
    // The parser would add how to distinguish positional arguments from options, which does not
    // apply.
    const [sentence] = (cause instanceof Error ? cause.message : String(cause)).split(". ");
    return stop(`${sentence?.replace(/\.$/, "")}. --help lists the options.`);
  }
}

/** For scripts that pass all other arguments on: prints the help and exits if requested. */
export function printHelp(script: string): void {
  if (!process.argv.slice(2).some((argument) => argument === "--help" || argument === "-h")) return;
  const lines = readFileSync(script, "utf8").split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  const help = lines.slice(0, end).map((line) => line.replace(/^\/\/ ?/, ""));
  process.stdout.write(`${help.join("\n")}\n`);
  process.exit(0);
}

/** The number in an option; ends the script if it is none. */
export function wholeNumber(option: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return stop(`--${option} is "${text}", but must be a whole number.`);
}

export function stop(sentence: string): never {
  console.error(sentence);
  process.exit(WRONG_USE);
}
