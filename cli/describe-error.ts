import type { InstanceView } from "../lib/client/index.ts";

/** What an instance failed with: its name, code and message, then the lines of its stack. */
export function errorFacts(
  error: InstanceView["error"],
): readonly (readonly [string, string | undefined])[] {
  if (error === undefined) return [];
  const { name, code, message, stack = "" } = error;
  const title = [name, code === undefined ? undefined : `[${code}]`].filter(Boolean).join(" ");
  const frames = stack.split("\n").filter((line) => /^\s*at /.test(line));
  return [
    ["error", title === "" ? message : `${title}: ${message}`],
    ...frames.slice(0, MOST_FRAMES).map((line) => ["", line.trim()] as const),
  ];
}

/** More are in the answer of the API, which `--json` prints. */
const MOST_FRAMES = 5;
