/** Every code that the analysis of a bundle reports, each a promise; docs/reference/diagnostics.md explains them. */
export const ANALYSIS_CODES = [
  "code/malformed-bundle",
  "code/too-deep",
  "code/too-many-problems",
  "code/not-in-workflow",
  "code/dynamic-import",
  "code/clock-at-load",
  "code/chance-at-load",
  "code/native-promise",
  "code/console",
  "code/locale",
] as const;

export type AnalysisCode = (typeof ANALYSIS_CODES)[number];
