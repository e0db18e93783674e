/**
 * What every door asks of a request. HTTP requests have been checked by their shapes; callers of
 * the library come as they are, and are told what is wrong instead of meeting it later.
 */
import { isVariableName } from "../definition/expression.ts";
import { INSTANCE_ID_RULE, isInstanceId } from "../definition/instance-id.ts";
import { findNonJson } from "../definition/json.ts";
import { MAX_PAGE_SIZE } from "../definition/limits.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { PageRequest } from "./engine.ts";

/** Throws unless instances may be called so. */
export function checkInstanceId(instanceId: unknown): void {
  if (isInstanceId(instanceId)) return;
  throw invalid("instanceId", INSTANCE_ID_RULE, "Choose another id, or leave it to the engine.");
}

/** Throws unless these are values by name that JSON can hold. */
export function checkVariables(variables: unknown): void {
  const found = findNonJson(variables);
  if (found) throw notJson(["variables", ...found.path], found.problem);
  if (typeof variables !== "object" || variables === null || Array.isArray(variables)) {
    throw notJson(["variables"], "is not an object");
  }
  const name = Object.keys(variables).find((it) => !isVariableName(it));
  if (name === undefined) return;
  throw invalid(
    "variables",
    `${JSON.stringify(name)} cannot name a variable`,
    "Use letters, digits and _, begin with no digit, and avoid the keywords of FEEL.",
  );
}

/** Throws unless a page may be this long. */
export function checkPage({ limit }: PageRequest): void {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= MAX_PAGE_SIZE) return;
  throw invalid(
    "limit",
    `must be a whole number from 1 to ${MAX_PAGE_SIZE}`,
    "Ask for less at a time, and hand back `nextCursor` for more.",
  );
}

function notJson(path: readonly string[], problem: string): EngineError {
  const fix = "Pass only what JSON can say: null, booleans, finite numbers, texts, lists, objects.";
  return invalid(path.join("."), problem, fix);
}

function invalid(path: string, message: string, fix: string): EngineError {
  return new EngineError("request/invalid", {
    happened: `${path} ${message}`,
    where: path,
    fix,
    retryable: false,
    details: [{ path, message }],
  });
}
