import { evaluate, isFunction } from "feelin";

/** The FEEL dialect everything is parsed in: it allows names in backticks. */
export const DIALECT = "camunda";

/**
 * A function written in FEEL and run by feelin: `function(a, b) a + b`. The text is parsed here,
 * once; a call costs a microsecond or two, where `evaluate` would parse again for a hundred.
 */
export function borrowed(text: string): (...args: readonly unknown[]) => unknown {
  const { value, warnings } = evaluate(text, {}, DIALECT);
  if (!isFunction(value)) throw new Error(`\`${text}\` is no function.`);
  return (...args) => {
    const result: unknown = value.invoke(args);
    // feelin adds to this list at every call, and nothing else empties it.
    warnings.length = 0;
    return result;
  };
}
