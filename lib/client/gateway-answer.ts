/** A response that did not come from the engine, and what is known of the request. */
export type StrangeAnswer = Readonly<{
  url: string;
  status: number;
  text: string;
  /** The `Date` header, where there is one. */
  date: string | undefined;
  proof: "none" | "token" | "signature";
  now: number;
}>;

/** Explains the response of an API Gateway in front of the engine; undefined if it is not from one. */
export function explainGateway(answer: StrangeAnswer): string | undefined {
  const said = messageOf(answer.text);
  if (said === undefined) return undefined;
  const { host } = new URL(answer.url);
  return `The gateway at ${host} answered ${answer.status} (${said}), and the engine was not asked or did not answer. ${adviceOn(answer, said)}`;
}

/** A gateway responds with an object that has a message, and none of the fields of a problem. */
function messageOf(text: string): string | undefined {
  const parsed = parseObject(text);
  const said = parsed?.message ?? parsed?.Message;
  return typeof said === "string" ? said : undefined;
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? { ...parsed } : undefined;
  } catch {
    return undefined;
  }
}

function adviceOn(answer: StrangeAnswer, said: string): string {
  const { status } = answer;
  if (status === 401) return "Send a bearer token that its authorizer takes (--token, `token`).";
  if (status === 403) return adviceOnForbidden(answer, said);
  if (status === 404)
    return "Check the URL: it has to name the stage too, as the deployment printed it.";
  if (status === 413) return "Send less: 10 MB are the most that the gateway passes on.";
  if (status === 429)
    return "Wait a moment and call again; if this repeats, raise the stage's throttle.";
  if (status >= 500) {
    return "What was asked for may have been done: repeat it with the same id or idempotency key. If this repeats, look at the logs of the http-api function.";
  }
  return "Check the URL.";
}

function adviceOnForbidden({ proof, date, now }: StrangeAnswer, said: string): string {
  if (proof === "none") {
    return "It asks who calls: sign as AWS credentials (--aws, `sign: awsSigner()`), or send a bearer token (--token, `token`).";
  }
  if (proof === "token") {
    return "The token does not permit this call: get one with the scope for it. Where the gateway asks for IAM, sign instead (--aws, `sign: awsSigner()`).";
  }
  const skewMinutes = date === undefined ? 0 : Math.round((Date.parse(date) - now) / 60_000);
  if (Math.abs(skewMinutes) >= TOLERATED_MINUTES) {
    return `The clock of this machine is ${Math.abs(skewMinutes)} minutes ${skewMinutes > 0 ? "slow" : "fast"}, and signatures are valid for five: set it.`;
  }
  const [, advice] = ADVICE.find(([pattern]) => pattern.test(said)) ?? [];
  return advice ?? ADVICE_ON_IAM;
}

const TOLERATED_MINUTES = 4;

const ADVICE_ON_IAM =
  "These credentials are not taken, or may not do this: check who they are (`aws sts get-caller-identity`), that they may `execute-api:Invoke` this API, and that the region is the API's.";

/** By the gateway's message to a signed request. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /token.*expired|signature expired/i,
    "The credentials have expired: sign in again, for example with `aws sso login`.",
  ],
  [
    /token.*invalid/i,
    "The access key is unknown here: check that the credentials are of the account and partition that the API is in.",
  ],
  [
    /scoped to/i,
    "The signature is for another region or service: name the region of the API (--region, `region`).",
  ],
  [
    /signature .*not match|signature .*invalid/i,
    "The secret key is not the one of the access key, or something between here and the gateway changed the request.",
  ],
  [
    /missing authentication token/i,
    "Nothing is deployed at this path: check the URL, which has to name the stage too.",
  ],
];
