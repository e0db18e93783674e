/**
 * Arguments are copied: a caller that changes its objects later changes nothing in the engine. What
 * cannot be copied is not JSON, and the validation reports it.
 */
export function own<T>(value: T): T {
  try {
    return structuredClone(value);
  } catch {
    return value;
  }
}
