import type { Terminal } from "./terminal.ts";

/** How the reader calls `fermata` here, so that printed lines can be pasted. */
export function programName({ environment }: Pick<Terminal, "environment">): string {
  const isClone = environment.npm_package_name === "fermata-engine";
  return isClone ? "npm run -s fermata --" : "fermata";
}
