import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { localClient } from "./dynamodb-table.ts";

/** The fate of one request: undefined lets it pass. */
export type Fault =
  /** The service responds with this instead, and has done nothing. */
  | Readonly<{ answer: Answer }>
  /** The service answers this to the request, and has done nothing of it. */
  | Readonly<{ instead: (request: Json) => Json }>
  /** The connection fails: before the service got the request, or after it has done what it asks. */
  | Readonly<{ failure: Error; when: "before" | "after" }>
  /** The service's own answer is changed on its way back. */
  | Readonly<{ change: (answer: Json, request: Json) => Json }>;

export type Json = Record<string, unknown>;
type Answer = Readonly<{ status: number; body: Json }>;

/** A client whose requests of one kind get these faults, one after the other, and then none. */
export function faultyClient(
  endpoint: string,
  operation: string,
  faults: readonly Fault[],
): Readonly<{ client: DynamoDBClient; sent: () => readonly Json[] }> {
  const left = [...faults];
  const sent: Json[] = [];
  const { requestHandler: real } = localClient(endpoint).config;
  const client = localClient(endpoint, {
    requestHandler: {
      ...{ updateHttpClientConfig: () => undefined, httpHandlerConfigs: () => ({}) },
      async handle(...call: Parameters<Handler["handle"]>) {
        const [request] = call;
        const go = () => real.handle(...call);
        if (request.headers["x-amz-target"] !== `DynamoDB_20120810.${operation}`) return go();
        const asked = parse(new TextDecoder().decode(request.body));
        sent.push(asked);
        return { response: await meet(left.shift(), asked, async () => (await go()).response) };
      },
    },
  });
  return { client, sent: () => sent };
}

/** How DynamoDB refuses a request. */
export function refusal(name: string, more: Json = {}, status = 400): Fault {
  const type = `com.amazonaws.dynamodb.v20120810#${name}`;
  return { answer: { status, body: { __type: type, message: "said the test", ...more } } };
}

/** How Node reports a broken connection. */
export function broken(code: string, when: "before" | "after"): Fault {
  return { failure: Object.assign(new Error(code), { code }), when };
}

type Handler = DynamoDBClient["config"]["requestHandler"];
type Response = Awaited<ReturnType<Handler["handle"]>>["response"];

async function meet(
  fault: Fault | undefined,
  asked: Json,
  proceed: () => Promise<Response>,
): Promise<Response> {
  if (fault === undefined) return proceed();
  if ("answer" in fault) return responseOf(fault.answer);
  if ("instead" in fault) return responseOf({ status: 200, body: fault.instead(asked) });
  if ("failure" in fault) {
    if (fault.when === "after") await textOf(await proceed());
    throw fault.failure;
  }
  const said = parse(await textOf(await proceed()));
  return responseOf({ status: 200, body: fault.change(said, asked) });
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function parse(text: string): Json {
  return JSON.parse(text) as Json;
}

function responseOf({ status, body }: Answer): Response {
  const headers = { "content-type": "application/x-amz-json-1.0" };
  return { statusCode: status, headers, body: Buffer.from(JSON.stringify(body)) };
}
