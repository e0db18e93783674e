/**
 * What every door asks of a request. HTTP requests have been checked by their shapes; callers of
 * the library come as they are, and are told what is wrong instead of meeting it later.
 */
import { isVariableName } from "../definition/expression.ts";
import { INSTANCE_ID_RULE, isInstanceId } from "../definition/instance-id.ts";
import { findNonJson } from "../definition/json.ts";
import { MAX_NAME_LENGTH, MAX_PAGE_SIZE, MAX_PAYLOAD_BYTES } from "../definition/limits.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { PageRequest } from "./engine.ts";

/** Throws unless instances may be called so. */
export function checkInstanceId(instanceId: unknown): void {
  if (isInstanceId(instanceId)) return;
  throw invalid("instanceId", INSTANCE_ID_RULE, "Choose another id, or leave it to the engine.");
}

/** Throws unless a signal, a message or an event, or a key or an id of one, may be called so. */
export function checkName(path: string, name: unknown): void {
  const isName = typeof name === "string" && name.length <= MAX_NAME_LENGTH && name !== "";
  if (isName && name.isWellFormed() && !name.includes("\0")) return;
  throw invalid(path, `must be 1 to ${MAX_NAME_LENGTH} characters of text`, "Choose another.");
}

/** Throws unless JSON can hold it, in as many bytes as are carried around. */
export function checkPayload(payload: unknown): void {
  const found = findNonJson(payload);
  if (found) throw notJson(["payload", ...found.path], found.problem);
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (bytes <= MAX_PAYLOAD_BYTES) return;
  throw new EngineError("request/body-too-large", {
    happened: `The payload takes ${bytes} bytes, ${MAX_PAYLOAD_BYTES} is the limit`,
    where: "payload",
    fix: "Keep large values elsewhere and send references to them.",
    retryable: false,
  });
}

/** Throws unless these are values by name that JSON can hold. */
export function checkVariables(variables: unknown, path = "variables"): void {
  const found = findNonJson(variables);
  if (found) throw notJson([path, ...found.path], found.problem);
  if (typeof variables !== "object" || variables === null || Array.isArray(variables)) {
    throw notJson([path], "is not an object");
  }
  const name = Object.keys(variables).find((it) => !isVariableName(it));
  if (name === undefined) return;
  throw invalid(
    path,
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
