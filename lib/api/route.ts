import type { ApiRequest } from "./http.ts";
import type { Operation, Received } from "./operation.ts";
import { invalid, refuse } from "./refuse.ts";

/** The operations of one path, and what its variable parts are in this request. */
export type Route = Readonly<{
  byMethod: ReadonlyMap<string, Operation>;
  rawParams: Readonly<Record<string, string>>;
}>;

/** Finds the route of a path; undefined where there is none. */
export function createRouting(
  operations: readonly Operation[],
): (path: string) => Route | undefined {
  const places = new Map<string, { parts: readonly string[]; byMethod: Map<string, Operation> }>();
  for (const operation of operations) {
    const place = places.get(operation.path) ?? {
      parts: operation.path.split("/"),
      byMethod: new Map<string, Operation>(),
    };
    place.byMethod.set(operation.method, operation);
    places.set(operation.path, place);
  }
  // As gateways do it: a literal part takes precedence over a variable one.
  const inOrder = [...places.values()].sort((a, b) => variableParts(a) - variableParts(b));
  return (path) => {
    const parts = path.split("/");
    for (const { parts: template, byMethod } of inOrder) {
      const rawParams = match(template, parts);
      if (rawParams !== undefined) return { byMethod, rawParams };
    }
    return undefined;
  };
}

const variableParts = ({ parts }: { parts: readonly string[] }): number =>
  parts.filter((part) => part.startsWith("{")).length;

/** The methods that a path answers, as the Allow header lists them. */
export function allowed({ byMethod }: Route): string {
  const methods = [...byMethod.keys()];
  return [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
}

/** The request with its path and query parsed; throws where their escapes are invalid. */
export function receive(request: ApiRequest, { rawParams }: Route): Received {
  const params = Object.fromEntries(
    Object.entries(rawParams).map(([name, raw]) => [name, decodePart(raw, "path", name)]),
  );
  return { request, params, query: parseQuery(request.query) };
}

/** The error for a method that a path does not have. */
export function methodNotAllowed(method: string, path: string, route: Route) {
  return refuse(
    "request/method-not-allowed",
    `There is no ${JSON.stringify(method)} here`,
    path,
    `Use ${allowed(route)}.`,
  );
}

/** The error for an unknown path. */
export function pathNotFound(path: string) {
  return refuse(
    "request/not-found",
    "There is nothing at this path",
    path,
    "GET /v1/openapi.json lists every path.",
  );
}

function match(
  template: readonly string[],
  parts: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (template.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [n, expected] of template.entries()) {
    const part = parts[n] ?? "";
    if (!expected.startsWith("{")) {
      if (part !== expected) return undefined;
    } else if (part === "") return undefined;
    else params[expected.slice(1, -1)] = part;
  }
  return params;
}

function parseQuery(query: string): Readonly<Record<string, string>> {
  const found = new Map<string, string>();
  for (const pair of query.split("&").filter((text) => text !== "")) {
    const [rawName = "", ...rest] = pair.replaceAll("+", " ").split("=");
    const name = decodePart(rawName, "query", "");
    if (found.has(name)) {
      const message = `${JSON.stringify(name)} is given twice`;
      throw invalid([{ in: "query", at: name, message }]);
    }
    found.set(name, decodePart(rest.join("="), "query", name));
  }
  return Object.fromEntries(found);
}

function decodePart(raw: string, part: "path" | "query", name: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    const message = "it has a % that does not begin the escape of a UTF-8 character";
    throw invalid([{ in: part, at: name, message }]);
  }
}
