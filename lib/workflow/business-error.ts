/**
 * Thrown by a step to say that the work cannot be done: it is not tried again, and the workflow gets
 * a `TaskFailed` with this code. Any error named "BusinessError" with a `code` counts.
 */
export class BusinessError extends Error {
  override readonly name = "BusinessError";
  readonly code: string;

  constructor(code: string, message: string = code) {
    super(message);
    this.code = code;
  }
}
