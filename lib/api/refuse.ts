import { EngineError, type ErrorCode } from "../ports/engine-error.ts";
import { MAX_NAMED_PROBLEMS } from "./limits.ts";

/** One problem of a request: in which part, where in it, and what. */
export type Fault = Readonly<{
  in: "path" | "query" | "header" | "body";
  /** A parameter's name, or a JSON pointer into the body. */
  at: string;
  message: string;
}>;

/** The error for a request that violates the document: lists every problem. */
export function invalid(faults: readonly Fault[]): EngineError {
  const named = faults.slice(0, MAX_NAMED_PROBLEMS);
  const [first] = named;
  const told = first?.message.replace(/\.$/, "") ?? "it cannot be read";
  const others = faults.length > 1 ? `, and ${faults.length - 1} more` : "";
  return new EngineError("request/invalid", {
    happened: `The request is not valid: ${told}${others}`,
    where: first === undefined ? "request" : `${first.in} ${first.at}`.trim(),
    fix: "`errors` names everything that is wrong; /v1/openapi.json says what is right.",
    details: named,
  });
}

/** The error for a request that is refused for one reason. */
export function refuse(code: ErrorCode, happened: string, where: string, fix: string): EngineError {
  return new EngineError(code, { happened, where, fix });
}
