/** Every code that the analysis of a bundle reports, each a promise; docs/reference/diagnostics.md explains them. */
export const ANALYSIS_CODES = [
  "code/malformed-bundle",
  "code/too-deep",
  "code/too-many-problems",
  "code/not-in-workflow",
  "code/dynamic-import",
  "code/clock-at-load",
  "code/chance-at-load",
  "code/step-not-removed",
  "code/nested-declaration",
  "code/native-promise",
  "code/console",
  "code/locale",
] as const;

export type AnalysisCode = (typeof ANALYSIS_CODES)[number];

/** Every code that compiling a bundle reports besides. */
export const COMPILER_CODES = [
  "code/too-large",
  "code/load-threw",
  "code/load-stopped",
  "code/no-workflow",
  "code/too-many-workflows",
  "code/invalid-id",
  "code/duplicate-id",
  "code/step-without-handler",
] as const;

export type CompilerCode = (typeof COMPILER_CODES)[number];
