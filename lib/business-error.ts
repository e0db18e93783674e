import type { Variables } from "./definition/json.ts";

/**
 * Thrown by a task handler to report a business error: boundary events can catch it by its code.
 * Every other error uses up a retry. Any error named "BusinessError" with a `code` counts.
 */
export class BusinessError extends Error {
  override readonly name = "BusinessError";
  readonly code: string;
  readonly variables: Variables;

  constructor(code: string, message: string = code, variables: Variables = {}) {
    super(message);
    this.code = code;
    this.variables = variables;
  }
}
