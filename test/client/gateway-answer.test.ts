import { describe, expect, test } from "vitest";
import { explainGateway, type StrangeAnswer } from "../../lib/client/gateway-answer.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");

const explain = (status: number, message: string, about: Partial<StrangeAnswer> = {}) =>
  explainGateway({
    url: "https://abc.execute-api.us-east-1.amazonaws.com/v1/health",
    status,
    text: JSON.stringify({ message }),
    date: "Sun, 01 Mar 2026 12:00:01 GMT",
    proof: "signature",
    now: NOW,
    ...about,
  });

describe("a response of a gateway", () => {
  test("is reported as the gateway's, with its message", () => {
    expect(explain(403, "Forbidden")).toMatch(
      /^The gateway at abc\.execute-api\.us-east-1\.amazonaws\.com answered 403 \(Forbidden\)/,
    );
  });

  test.each([
    [403, "Forbidden", "none", /sign as AWS credentials \(--aws.*bearer token/],
    [403, "Missing Authentication Token", "none", /--aws/],
    [403, "Forbidden", "token", /scope.*sign instead/],
    [403, "Forbidden", "signature", /execute-api:Invoke.*region/],
    [
      403,
      "User: arn:aws:iam::1:user/a is not authorized to perform: execute-api:Invoke",
      "signature",
      /may `execute-api:Invoke`/,
    ],
    [
      403,
      "The security token included in the request is expired",
      "signature",
      /have expired.*aws sso login/,
    ],
    [403, "The security token included in the request is invalid.", "signature", /unknown here/],
    [403, "Credential should be scoped to a valid region.", "signature", /--region/],
    [
      403,
      "The request signature we calculated does not match the signature you provided.",
      "signature",
      /secret key/,
    ],
    [403, "Missing Authentication Token", "signature", /stage/],
    [401, "Unauthorized", "none", /bearer token/],
    [404, "Not Found", "signature", /stage/],
    [429, "Too Many Requests", "signature", /Wait/],
    [413, "Request Too Long", "none", /10 MB/],
    [500, "Internal Server Error", "signature", /idempotency key.*http-api/],
    [503, "Service Unavailable", "signature", /may have been done/],
    [418, "Teapot", "none", /Check the URL/],
  ] as const)("%i %s with %s says what to do", (status, message, proof, advice) => {
    expect(explain(status, message, { proof })).toMatch(advice);
  });

  test.each([
    ["Sun, 01 Mar 2026 12:07:00 GMT", /7 minutes slow.*set it/],
    ["Sun, 01 Mar 2026 11:50:00 GMT", /10 minutes fast.*set it/],
  ])("with the date %s mentions the clock", (date, advice) => {
    expect(explain(403, "Forbidden", { date })).toMatch(advice);
  });

  test("does not mention the clock without a date", () => {
    expect(explain(403, "Forbidden", { date: undefined })).not.toMatch(/clock/);
  });

  test.each(["<html>", "[]", '"text"', '{"error":1}', "null"])("is not %s", (text) => {
    expect(explain(502, "", { text })).toBeUndefined();
  });
});
