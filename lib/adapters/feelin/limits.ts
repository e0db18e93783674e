/** Longest expression text, in characters. */
export const MAX_EXPRESSION_LENGTH = 10_000;

/** Deepest nesting of an expression's syntax tree. */
export const MAX_EXPRESSION_DEPTH = 200;

/** How many compiled expressions are kept for their next use. */
export const MAX_COMPILED_EXPRESSIONS = 2_000;

/**
 * Steps one evaluation may take: iterations, calls, items passed to functions, nodes of a result.
 */
export const MAX_EVALUATION_STEPS = 1_000_000;

/** Longest string an evaluation may build, in characters. */
export const MAX_BUILT_STRING = 1_000_000;

/** Longest regular expression, in characters. */
export const MAX_PATTERN_LENGTH = 500;

/** How many compiled patterns are kept for their next use; each may hold some megabytes. */
export const MAX_COMPILED_PATTERNS = 50;

/** Warnings kept of one evaluation; later ones add nothing. */
export const MAX_WARNINGS = 10;
