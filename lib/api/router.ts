import type { Engine } from "../engine/engine.ts";
import { authorize } from "./authorize.ts";
import type { ApiRequest, ApiResponse } from "./http.ts";
import { openApiDocument } from "./openapi.ts";
import type { ApiExtras, ApiSettings, Host } from "./operation.ts";
import { operations } from "./operations.ts";
import { problemResponse } from "./problem.ts";
import { allowed, createRouting, methodNotAllowed, pathNotFound, receive } from "./route.ts";

/** Answers HTTP requests with an engine: never throws, and keeps no state between requests. */
export function createApi({
  engine,
  extras = {},
  settings,
}: Readonly<{ engine: Engine; extras?: ApiExtras; settings: ApiSettings }>): (
  request: ApiRequest,
) => Promise<ApiResponse> {
  let document: string | undefined;
  const host: Host = {
    engine,
    extras,
    settings,
    // Generated on first use: a cold start need not wait for it.
    document: () => {
      document ??= JSON.stringify(openApiDocument(operations, settings));
      return document;
    },
  };
  const find = createRouting(operations);
  return async (request) => {
    try {
      return await answer(request, find, host);
    } catch (error) {
      return problemResponse(error, request, (failure) =>
        extras.reportFailure?.({ ...failure, ...aboutRequest(request, find) }),
      );
    }
  };
}

function aboutRequest({ id, method, path }: ApiRequest, find: Find) {
  const byMethod = find(path)?.byMethod;
  const operation = byMethod?.get(method === "HEAD" ? "GET" : method);
  const route = `${method} ${operation?.path ?? "(none)"}`;
  return { route, ...(id !== undefined && { requestId: id }) };
}

type Find = ReturnType<typeof createRouting>;

async function answer(request: ApiRequest, find: Find, host: Host): Promise<ApiResponse> {
  const { method, path } = request;
  const route = find(path);
  const operation = route?.byMethod.get(method === "HEAD" ? "GET" : method);
  const { token } = host.settings;
  if (token !== undefined && operation?.isOpen !== true) authorize(token, request);
  if (route === undefined) throw pathNotFound(path);
  if (method === "OPTIONS") return { status: 204, headers: { allow: allowed(route) }, body: "" };
  if (operation === undefined) {
    const refused = problemResponse(methodNotAllowed(method, path, route), request);
    return { ...refused, headers: { ...refused.headers, allow: allowed(route) } };
  }
  const response = await operation.call(receive(request, route), host);
  return method === "HEAD" ? { ...response, body: "" } : response;
}
