/** Every code that bundling and loading report, each a promise; docs/reference/diagnostics.md explains them. */
export const BUNDLER_CODES = [
  "code/unreadable-file",
  "code/syntax",
  "code/suspicious",
  "code/not-exported",
  "code/unresolved-import",
  "code/unknown-import",
  "code/node-module",
  "code/load-failed",
] as const;

export type BundlerCode = (typeof BUNDLER_CODES)[number];
