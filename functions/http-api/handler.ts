import type { Context } from "aws-lambda";
import type { ApiRequest, ApiResponse } from "../../lib/api/http.ts";
import { operations } from "../../lib/api/operations.ts";
import { problemResponse } from "../../lib/api/problem.ts";
import { createRouting, pathNotFound } from "../../lib/api/route.ts";
import { createApi } from "../../lib/api/router.ts";
import { VERSION } from "../../lib/api/version.ts";
import type { Engine } from "../../lib/engine/engine.ts";
import type { Clock } from "../../lib/ports/clock.ts";
import type { Ids } from "../../lib/ports/ids.ts";
import type { Telemetry } from "../middleware/telemetry.ts";
import { inTrace, TRACEPARENT } from "../middleware/trace.ts";
import { answerOf, type GatewayAnswer, type GatewayEvent, requestOf } from "./gateway-event.ts";
import { waitForEnd } from "./wait-for-end.ts";

export type HttpApiOptions = Readonly<{ clock: Clock; ids: Ids; telemetry: Telemetry }>;

/** Handles each request of a gateway, which has authorized it already. */
export function httpApi(
  engine: Engine,
  { clock, ids, telemetry }: HttpApiOptions,
): (event: GatewayEvent, context: Context) => Promise<GatewayAnswer> {
  const api = createApi({
    engine,
    extras: {
      waitForEnd: waitForEnd(engine, clock),
      reportFailure: (failure) => {
        const errorId = ids.digest(ids.fresh()).slice(0, 12);
        telemetry.log("error", "request-failed", { errorId, ...failure });
        return errorId;
      },
    },
    settings: { version: VERSION },
  });
  return async (event) => {
    const request = requestOf(event);
    if (hasEvadedItsRoute(event, request)) {
      return answerOf(problemResponse(pathNotFound(request.path), request));
    }
    return inTrace(request.headers[TRACEPARENT], async () => {
      const startedAt = clock.now();
      const response = await api(request);
      const { method, path } = request;
      const ms = clock.now() - startedAt;
      telemetry.log("debug", "request-answered", { method, path, status: response.status, ms });
      return answerOf(askedToReturn(request, response));
    });
  };
}

const findRoute = createRouting(operations);

/**
 * A call that changes something must come by its own route, where the gateway checks its
 * permission. A path that is encoded oddly, or that the gateway cut, must not lead from a route
 * with fewer permissions to a call that needs more.
 */
function hasEvadedItsRoute(event: GatewayEvent, { method, path }: ApiRequest): boolean {
  if (["GET", "HEAD", "OPTIONS"].includes(method)) return false;
  const operation = findRoute(path)?.byMethod.get(method);
  return operation !== undefined && routeOf(event) !== `${method} ${operation.path}`;
}

function routeOf(event: GatewayEvent): string {
  return "routeKey" in event ? event.routeKey : `${event.httpMethod} ${event.resource}`;
}

/** A wait for a result ended before the requested time: the caller may retry. */
function askedToReturn({ path, query }: ApiRequest, response: ApiResponse): ApiResponse {
  const isWait = response.status === 409 && path.endsWith("/result") && /waitSeconds=/.test(query);
  if (!isWait) return response;
  return { ...response, headers: { ...response.headers, "retry-after": "1" } };
}
