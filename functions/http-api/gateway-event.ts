import type {
  APIGatewayProxyEvent,
  APIGatewayProxyEventV2,
  APIGatewayProxyStructuredResultV2,
} from "aws-lambda";
import type { ApiRequest, ApiResponse } from "../../lib/api/http.ts";
import { encodedPath } from "./gateway-path.ts";

/** What an HTTP API sends (payload 2.0), or a REST API (1.0). */
export type GatewayEvent = APIGatewayProxyEventV2 | APIGatewayProxyEvent;

/** A response that both accept. */
export type GatewayAnswer = APIGatewayProxyStructuredResultV2;

/** The request that a gateway received, as closely as its event allows. */
export function requestOf(event: GatewayEvent): ApiRequest {
  return "rawPath" in event ? fromHttpApi(event) : fromRestApi(event);
}

/** Bytes leave in base64; a gateway turns them back. */
export function answerOf({ status, headers, body }: ApiResponse): GatewayAnswer {
  const answer = { statusCode: status, headers: { ...headers } };
  if (typeof body === "string") return { ...answer, body, isBase64Encoded: false };
  return { ...answer, body: Buffer.from(body).toString("base64"), isBase64Encoded: true };
}

function fromHttpApi(event: APIGatewayProxyEventV2): ApiRequest {
  const { http, stage } = event.requestContext;
  return {
    id: event.requestContext.requestId,
    method: http.method,
    path: encodedPath(withoutStage(event.rawPath, stage), http.method),
    query: event.rawQueryString,
    headers: lowerCased(event.headers),
    body: bodyOf(event),
  };
}

/** A REST API passes the path as it was sent, without its stage, and the query parsed. */
function fromRestApi(event: APIGatewayProxyEvent): ApiRequest {
  return {
    id: event.requestContext.requestId,
    method: event.httpMethod,
    path: event.path,
    query: queryOf(event),
    headers: lowerCased({ ...event.headers, ...joined(event.multiValueHeaders) }),
    body: bodyOf(event),
  };
}

/** A stage with a name is the first part of the path. */
function withoutStage(path: string, stage: string): string {
  if (stage === "$default" || !path.startsWith(`/${stage}/`)) return path;
  return path.slice(stage.length + 1);
}

function bodyOf({ body, isBase64Encoded }: GatewayEvent): Uint8Array {
  return Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8");
}

type Texts = Readonly<Record<string, string | undefined>>;

function lowerCased(headers: Texts): Texts {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

/** As HTTP itself would join them. */
function joined(headers: APIGatewayProxyEvent["multiValueHeaders"] | null): Texts {
  return Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, values = []]) => [name, values.join(", ")]),
  );
}

function queryOf(event: APIGatewayProxyEvent): string {
  const several = Object.entries(event.multiValueQueryStringParameters ?? {});
  const single = Object.entries(event.queryStringParameters ?? {});
  const pairs =
    several.length > 0
      ? several.flatMap(([name, values = []]) => values.map((value) => [name, value] as const))
      : single.map(([name, value = ""]) => [name, value] as const);
  return pairs.map((pair) => pair.map((text) => encodeURIComponent(text)).join("=")).join("&");
}
