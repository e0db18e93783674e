/**
 * The task `fermata:http`: one HTTP call, run like any other task of the installation.
 *
 * 1. Wrong inputs fail at once and are not retried; nothing was sent then. Nor is a call retried
 *    that this installation does not allow.
 * 2. A status of 400 and above is an error `HTTP_<status>` of the process, with status, headers and
 *    body. An incomplete response uses up a retry.
 * 3. All attempts carry the same Idempotency-Key, unless the author has set one.
 * 4. Secrets are in the outgoing request and nowhere else: they are masked in results, errors and
 *    messages, in case the service echoes them.
 */
import type { Json, Variables } from "../../../definition/json.ts";
import { MAX_HTTP_BODY_BYTES } from "../../../definition/limits.ts";
import type { Http, HttpAnswer, HttpRequest } from "../../../ports/http.ts";
import type { Secrets } from "../../../ports/secrets.ts";
import { HopelessFailure, type TaskContext } from "../handler-runs.ts";
import { readBody, writeBody } from "./bodies.ts";
import { type Call, readCall } from "./call.ts";
import { type Mask, type Masked, maskFor } from "./mask.ts";
import {
  bodyWith,
  headersWith,
  problemsWith,
  readSecrets,
  referencesIn,
  type SecretHosts,
} from "./secret-references.ts";

/** The settings of the task; the same on every host of an installation. */
export const HTTP_TASK = {
  type: "fermata:http",
  /** The longest call, with some margin. */
  timeoutMs: 45_000,
  isolate: false,
  exclusive: false,
} as const;

export type HttpTaskParts = Readonly<{
  http: Http;
  secrets: Secrets;
  /** The hosts that each secret may be sent to. */
  secretHosts: SecretHosts;
}>;

/** The handler, as a task's author would export one. */
export function httpTask(parts: HttpTaskParts) {
  return {
    timeout: HTTP_TASK.timeoutMs,
    run: (input: Variables, context: TaskContext) => run(input, context, parts),
  };
}

async function run(input: Variables, context: TaskContext, parts: HttpTaskParts) {
  const { call, problems } = readCall(input);
  const names = referencesIn(call);
  const all = [...problems, ...problemsWith(names, call, parts.secretHosts)];
  if (all.length > 0) throw cannotBeMade(all);
  const values = await secretsOf(names, parts.secrets);
  const mask = maskFor(values);
  const outcome = await parts.http.send(requestOf(call, values, context));
  switch (outcome.kind) {
    case "answered":
      return resultOf(call, outcome.answer, mask);
    case "refused":
      throw new HopelessFailure(mask.text(outcome.problem));
    case "failed":
      throw new Error(mask.text(outcome.problem));
  }
}

function cannotBeMade(problems: readonly string[]): Error {
  return new HopelessFailure(`The HTTP call cannot be made. ${problems.join(" ")}`);
}

/** A secret may be corrected at any time, so a problem with one is retried. */
async function secretsOf(names: readonly string[], secrets: Secrets): Promise<Masked> {
  const { values, problems } = await readSecrets(names, secrets);
  if (problems.length > 0) throw new Error(problems.join(" "));
  return values;
}

function requestOf(call: Call, values: Masked, context: TaskContext): HttpRequest {
  const { method, url, timeoutMs } = call;
  const headers = headersWith(call.headers, values);
  if (headers === undefined) {
    throw new Error("A secret has characters that no header can have, perhaps a line break.");
  }
  const sent = call.body === null ? undefined : bodyOf(call, values);
  return {
    method,
    url,
    timeoutMs,
    signal: context.signal,
    isConfidential: values.size > 0,
    headers: {
      accept: "*/*",
      "user-agent": "fermata",
      "idempotency-key": context.idempotencyKey,
      ...headers,
      "accept-encoding": "identity",
      ...(sent && { "content-type": sent.type, "content-length": String(sent.bytes.byteLength) }),
    },
    ...(sent && { body: sent.bytes }),
  };
}

function bodyOf({ body, headers }: Call, values: Masked) {
  const sent = writeBody(bodyWith(body, values), headers["content-type"]);
  if (sent === undefined) {
    throw cannotBeMade(["A form is a context of texts, numbers and booleans; `body` is none."]);
  }
  if (sent.bytes.byteLength <= MAX_HTTP_BODY_BYTES) return sent;
  throw cannotBeMade([`\`body\` has more than ${MAX_HTTP_BODY_BYTES} bytes.`]);
}

function resultOf({ method, url }: Call, answer: HttpAnswer, mask: Mask): Variables {
  const { status } = answer;
  const headers: Json = mask.value(answer.headers);
  const result = { status, headers, body: readBody(answer, mask) };
  if (status < 400) return result;
  const said = mask.text(`${status} ${answer.reason}`.trim());
  throw new StatusError(
    status,
    `${url.host} answered ${said} to ${method} ${url.pathname}.`,
    result,
  );
}

/** Named like the business errors of handlers. */
class StatusError extends Error {
  override readonly name = "BusinessError";
  readonly code: string;
  readonly variables: Variables;

  constructor(status: number, message: string, variables: Variables) {
    super(message);
    this.code = `HTTP_${status}`;
    this.variables = variables;
  }
}
