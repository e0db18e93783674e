import { type ParserPlugin, parse } from "@babel/parser";
import type { File } from "@babel/types";

/** How a text is to be read. */
export type Dialect = Readonly<{
  kind: "script" | "module" | "unambiguous";
  isTypeScript?: boolean;
  hasJsx?: boolean;
  /** Whether a text is accepted whose syntax is clear and breaks another rule, such as a name declared twice. */
  isLenient?: boolean;
}>;

/** The tree of a text, or why it has none; lines and columns count from 1. */
export type ParsedCode = Readonly<
  | { ok: true; file: File }
  | { ok: false; why: "syntax"; problem: string; line: number; column: number }
  | { ok: false; why: "too-deep" }
>;

/** Never throws, whatever the text. */
export function parseCode(text: string, dialect: Dialect): ParsedCode {
  const { kind, isTypeScript, hasJsx, isLenient = false } = dialect;
  const plugins: ParserPlugin[] = [
    ...(isTypeScript === true ? TYPESCRIPT : []),
    ...(hasJsx === true ? (["jsx"] as const) : []),
  ];
  try {
    const file = parse(text, {
      sourceType: kind,
      plugins,
      attachComment: false,
      errorRecovery: isLenient,
      createImportExpressions: true,
    });
    return { ok: true, file };
  } catch (error) {
    return failureOf(error);
  }
}

const TYPESCRIPT = ["typescript", "decorators-legacy", "decoratorAutoAccessors"] as const;

/** The parser calls itself for each level, so that it runs out of stack where a text is nested too deeply. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError;
}

function failureOf(error: unknown): ParsedCode {
  if (isStackOverflow(error)) return { ok: false, why: "too-deep" };
  const { message, loc } = error as Partial<{ message: string; loc: Place }>;
  const problem = (message ?? String(error)).replace(/ \(\d+:\d+\)$/, "");
  return {
    ok: false,
    why: "syntax",
    problem,
    line: loc?.line ?? 1,
    column: (loc?.column ?? 0) + 1,
  };
}

type Place = Readonly<{ line: number; column: number }>;
