/**
 * Expressions run on the one thread that also answers requests. A single decision is bounded, but many
 * that each use up their budget, such as timers that are due together, would block every request for
 * their sum. So an evaluation that took long is followed by a pause of the same length: the next
 * evaluations wait for it, one after the other, and everything else goes on meanwhile.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { ExpressionLanguage, Expressions } from "../definition/expression.ts";

type Thread = Readonly<{
  /** Milliseconds, from any beginning. */
  now: () => number;
  pause: (ms: number) => Promise<unknown>;
}>;

export function pacedExpressions(
  expressions: Expressions,
  thread: Thread = { now: () => performance.now(), pause: (ms) => pause(ms) },
): Expressions {
  let rest: Promise<unknown> | undefined;

  const paced = (language: ExpressionLanguage): ExpressionLanguage => {
    const evaluate: ExpressionLanguage["evaluate"] = (...expression) => {
      const begun = thread.now();
      const result = language.evaluate(...expression);
      const tookMs = thread.now() - begun;
      if (tookMs >= LONG_MS) {
        rest = thread.pause(tookMs).then(() => {
          rest = undefined;
        });
      }
      return result;
    };
    const evaluateLater: typeof evaluate = async (...expression) => {
      // Of those that wait together the first may begin a pause for the others.
      while (rest !== undefined) await rest;
      return evaluate(...expression);
    };
    return {
      check: (text) => language.check(text),
      variablesOf: (text) => language.variablesOf(text),
      evaluate: (...expression) => (rest ? evaluateLater : evaluate)(...expression),
    };
  };

  return new Map([...expressions].map(([name, language]) => [name, paced(language)]));
}

/** Shorter evaluations are not noticed by other requests. */
const LONG_MS = 50;
