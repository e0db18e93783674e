import { type Context, createContext, Script } from "node:vm";
import { MAX_PATTERN_LENGTH, MAX_UNWATCHED_TEXT } from "./limits.ts";
import { EvaluationFailed, type Run } from "./run.ts";

/**
 * Does work that matches a regular expression. A pattern that could backtrack for ever runs under
 * a watch that ends it when the evaluation's time for patterns is spent. The watch costs a
 * fraction of a millisecond, so patterns with at most one repetition, on short text, go without.
 */
export function matching<T>(run: Run, pattern: string, text: string, work: () => T): T {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new EvaluationFailed(`a pattern is longer than ${MAX_PATTERN_LENGTH} characters`);
  }
  if (text.length <= MAX_UNWATCHED_TEXT && repetitions(pattern) <= 1) return work();
  const begun = performance.now();
  try {
    return watched(work, Math.ceil(run.patternMsLeft));
  } finally {
    run.patternMsLeft = Math.max(1, run.patternMsLeft - (performance.now() - begun));
  }
}

/** Counts too many rather than too few: an escaped or bracketed sign counts as well. */
function repetitions(pattern: string): number {
  return pattern.match(/[*+{]|\\[1-9k]/g)?.length ?? 0;
}

function watched<T>(work: () => T, timeout: number): T {
  const results: T[] = [];
  box.work = () => {
    results.push(work());
  };
  try {
    realm ??= createContext({ call: () => box.work() });
    CALL.runInContext(realm, { timeout });
  } catch (error) {
    throw isTimeout(error)
      ? new EvaluationFailed("a pattern takes too long to match; repeat fewer parts of it")
      : error;
  }
  const [result] = results;
  if (result === undefined) throw new EvaluationFailed("a pattern gave no result");
  return result;
}

/** The error comes from the other realm, so that it is no Error of ours. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT"
  );
}

// The realm is no boundary, only a place to call from: node:vm alone can end running code.
const box: { work: () => void } = { work: () => undefined };
let realm: Context | undefined;
const CALL = new Script("call()");
