import type { APIGatewayProxyEventV2 } from "aws-lambda";

type HttpParts = Partial<Pick<APIGatewayProxyEventV2, "rawPath" | "rawQueryString" | "headers">> &
  Readonly<{
    method?: string;
    stage?: string;
    routeKey?: string;
    body?: string;
    isBase64Encoded?: boolean;
  }>;

/** As an HTTP API sends it, payload format 2.0. */
export function anHttpEvent(parts: HttpParts): APIGatewayProxyEventV2 {
  const { rawPath = "/v1/health", method = "GET", stage = "$default" } = parts;
  const { routeKey = "$default" } = parts;
  return {
    version: "2.0",
    routeKey,
    rawPath,
    rawQueryString: parts.rawQueryString ?? "",
    headers: { host: "abc.execute-api.eu-central-1.amazonaws.com", ...parts.headers },
    requestContext: {
      accountId: "123456789012",
      apiId: "abc",
      domainName: "abc.execute-api.eu-central-1.amazonaws.com",
      domainPrefix: "abc",
      http: {
        method,
        path: rawPath,
        protocol: "HTTP/1.1",
        sourceIp: "192.0.2.1",
        userAgent: "curl/8.5.0",
      },
      requestId: "JKJaXmPLvHcESHA=",
      routeKey,
      stage,
      time: "01/Jan/2030:00:00:00 +0000",
      timeEpoch: 1_893_456_000_000,
    },
    ...(parts.body !== undefined && { body: parts.body }),
    isBase64Encoded: parts.isBase64Encoded ?? false,
  };
}
