import { quoted } from "../../definition/parsed.ts";
import { type CamundaFunction, MISFIT } from "./camunda-function.ts";
import { compilePattern, findAll, isFound, type Pattern } from "./pattern.ts";
import { EvaluationFailed, type Run, requireShort, warn } from "./run.ts";

/** The functions that take a regular expression. */
export const PATTERN_FUNCTIONS: Readonly<Record<string, CamundaFunction>> = {
  matches: {
    parameters: ["input", "pattern", "flags"],
    call: ([text, pattern, flags], run) =>
      onPattern(run, { text, pattern, flags }, (compiled, it) => isFound(run, compiled, it)),
  },
  extract: {
    parameters: ["string", "pattern"],
    call: ([text, pattern], run) =>
      onPattern(run, { text, pattern }, (compiled, it) =>
        findAll(run, compiled, it).map(([whole]) => whole),
      ),
  },
  split: {
    parameters: ["string", "delimiter"],
    call: ([text, pattern], run) =>
      onPattern(run, { text, pattern }, (compiled, it) => split(it, findAll(run, compiled, it))),
  },
  replace: {
    parameters: ["input", "pattern", "replacement", "flags"],
    call: ([text, pattern, replacement, flags], run) =>
      typeof replacement === "string"
        ? onPattern(run, { text, pattern, flags }, (compiled, it) =>
            replaced(it, findAll(run, compiled, it), replacement.replaceAll("$0", "$$&")),
          )
        : MISFIT,
  },
};

type Given = Readonly<{ text: unknown; pattern: unknown; flags?: unknown }>;

function onPattern(
  run: Run,
  { text, pattern, flags }: Given,
  work: (compiled: Pattern, text: string) => unknown,
): unknown {
  const signs = flags ?? "";
  if (typeof text !== "string" || typeof pattern !== "string" || typeof signs !== "string") {
    return MISFIT;
  }
  if (signs.includes("x")) throw new EvaluationFailed("the flag x of patterns is not supported");
  if (!/^[smi]*$/.test(signs)) return warn(run, `the flags ${quoted(signs)} are not s, m or i`);
  const compiled = compilePattern(run, pattern, signs);
  if (compiled === undefined) {
    return warn(run, `the pattern ${quoted(pattern)} is not a valid regular expression`);
  }
  return work(compiled, text);
}

/**
 * As JavaScript splits: groups of the delimiter are parts, too, and an empty match never occurs at
 * an end.
 */
function split(text: string, matches: readonly RegExpMatchArray[]): readonly (string | null)[] {
  const parts: (string | null)[] = [];
  let from = 0;
  for (const match of matches) {
    const { index = 0 } = match;
    const end = index + match[0].length;
    if (end === from || index === text.length) continue;
    parts.push(text.slice(from, index), ...match.slice(1).map((group) => group ?? null));
    from = end;
  }
  // Empty text has no part if the delimiter matches it.
  if (text === "" && matches.length > 0) return [];
  return [...parts, text.slice(from)];
}

function replaced(text: string, matches: readonly RegExpMatchArray[], template: string): string {
  const parts: string[] = [];
  let length = text.length;
  let from = 0;
  for (const match of matches) {
    const { index = 0 } = match;
    const filled = template.includes("$") ? fill(template, match, text) : template;
    parts.push(text.slice(from, index), filled);
    from = index + match[0].length;
    length += filled.length - match[0].length;
    requireShort(length);
  }
  return [...parts, text.slice(from)].join("");
}

/** JavaScript's references to parts of a match; a reference without a group is literal text. */
function fill(template: string, match: RegExpMatchArray, text: string): string {
  const { index = 0, groups } = match;
  return template.replace(
    groups === undefined ? SIGNS : SIGNS_OR_NAMES,
    (sign: string, digits?: string, name?: string) => {
      if (digits !== undefined) return numbered(sign, digits, match);
      if (name !== undefined) return groups?.[name] ?? "";
      if (sign === "$$") return "$";
      if (sign === "$&") return match[0];
      return sign === "$`" ? text.slice(0, index) : text.slice(index + match[0].length);
    },
  );
}

const SIGNS = /\$(?:[$&`']|(\d\d?)|(?!)())/g;
const SIGNS_OR_NAMES = /\$(?:[$&`']|(\d\d?)|<([^>]*)>)/g;

/** Two digits if there are that many groups, else the first alone. */
function numbered(sign: string, digits: string, match: RegExpMatchArray): string {
  const isGroup = (n: number) => n > 0 && n < match.length;
  if (isGroup(Number(digits))) return match[Number(digits)] ?? "";
  const [first = "", second = ""] = digits;
  return second !== "" && isGroup(Number(first)) ? (match[Number(first)] ?? "") + second : sign;
}
