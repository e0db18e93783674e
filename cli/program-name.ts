import type { Terminal } from "./terminal.ts";

/** What the reader types for `fermata` where this was called, so that lines can be pasted. */
export function programName({ environment }: Pick<Terminal, "environment">): string {
  const isClone = environment.npm_package_name === "fermata-engine";
  return isClone ? "npm run -s fermata --" : "fermata";
}
