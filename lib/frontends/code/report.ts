import type { Diagnostic } from "../../definition/diagnostic.ts";
import { MAX_DIAGNOSTICS } from "../../definition/limits.ts";
import type { AnalysisCode } from "./codes.ts";
import type { SourceMap } from "./source-map.ts";

/** What is wrong at one place of a bundle, and what to write instead; line and column count from 1. */
export type Finding = Readonly<{
  severity: Diagnostic["severity"];
  code: AnalysisCode;
  line: number;
  column: number;
  message: string;
  hint: string;
}>;

/** A finding without its place. */
export type Problem = Omit<Finding, "line" | "column">;

/** The findings with the places of the author's files, each once; beyond the limit only their number. */
export function diagnosticsOf(findings: readonly Finding[], map: SourceMap): readonly Diagnostic[] {
  const listed = new Map<string, Diagnostic>();
  for (const finding of findings) {
    const diagnostic = diagnosticOf(finding, map);
    const { code, file, line, message } = diagnostic;
    const key = JSON.stringify([code, file, line, message]);
    if (!listed.has(key)) listed.set(key, diagnostic);
  }
  return withinLimit([...listed.values()]);
}

function diagnosticOf(finding: Finding, map: SourceMap): Diagnostic {
  const { severity, code, message, hint, line, column } = finding;
  const place = map.originalOf(line, column) ?? { line, column };
  return { severity, code, message, ...place, hint };
}

/** Errors are listed before warnings where not all fit. */
function withinLimit(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  if (diagnostics.length <= MAX_DIAGNOSTICS) return diagnostics;
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const warnings = diagnostics.filter(({ severity }) => severity === "warning");
  const rest = {
    severity: errors.length > MAX_DIAGNOSTICS ? "error" : "warning",
    code: "code/too-many-problems",
    message: `${diagnostics.length - MAX_DIAGNOSTICS} further problems are not listed.`,
    hint: "Fix the ones above, then check the file again.",
  } as const;
  return [...[...errors, ...warnings].slice(0, MAX_DIAGNOSTICS), rest];
}
