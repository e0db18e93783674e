/** A request could not be signed, so nothing was sent; the message says what is missing. */
export class SigningError extends Error {
  override readonly name = "SigningError";
}
