/** Longest expression text, in characters. */
export const MAX_EXPRESSION_LENGTH = 10_000;

/** Deepest nesting of an expression's syntax tree. */
export const MAX_EXPRESSION_DEPTH = 200;

/** How many compiled expressions are kept for their next use. */
export const MAX_COMPILED_EXPRESSIONS = 2_000;

/** Steps one evaluation may take: iterations, calls, items handed to functions, nodes of a result. */
export const MAX_EVALUATION_STEPS = 1_000_000;

/** Longest string an evaluation may build, in characters. */
export const MAX_BUILT_STRING = 1_000_000;

/** Longest regular expression, in characters. */
export const MAX_PATTERN_LENGTH = 500;

/** Longest text that a simple regular expression is run on without a watch. */
export const MAX_UNWATCHED_TEXT = 5_000;

/** Wall time that all regular expressions of one evaluation may take together. */
export const MAX_PATTERN_MS = 1_000;

/** Warnings kept of one evaluation; later ones repeat the same story. */
export const MAX_WARNINGS = 10;
