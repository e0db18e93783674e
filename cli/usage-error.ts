/** The arguments are not valid; the message says how to fix them. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
