/** A promise of the step protocol that a run has broken. */
export class Violation extends Error {
  override readonly name = "Violation";
}

/** Throws unless it holds. */
export function must(holds: boolean, message: () => string): asserts holds {
  if (!holds) throw new Violation(message());
}
