import { awsRegionOf } from "../lib/client/aws/index.ts";
import type { WaitView } from "../lib/client/index.ts";
import { DEFAULT_URL, type Server } from "./server.ts";

/** A call to paste into a shell. It reads the token and the keys from variables and never shows them. */
export function curlLine(
  server: Server,
  { method, path, body }: NonNullable<WaitView["wakeWith"]>,
): string {
  return [
    `curl -X ${method} ${quoted(`${server.url}${path}`)}`,
    ...proofOf(server),
    ...(body === undefined
      ? []
      : [`-H 'content-type: application/json' -d ${quoted(JSON.stringify(body))}`]),
  ].join(" ");
}

/** curl signs the request with the credentials in the environment of the shell. */
function proofOf({ token, signedFor }: Server): readonly string[] {
  if (signedFor !== undefined) {
    return [
      `--aws-sigv4 aws:amz:${signedFor}:execute-api`,
      '--user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"',
      // Only session credentials have one; curl would sign an empty header without sending it.
      `\${AWS_SESSION_TOKEN:+-H"x-amz-security-token: $AWS_SESSION_TOKEN"}`,
    ];
  }
  return token === undefined ? [] : ['-H "authorization: Bearer $FERMATA_TOKEN"'];
}

/** The command that would end a wait of an instance, if there is one. */
export function wakingLine(
  program: string,
  server: Server,
  instanceId: string,
  { kind, name = "", correlationKey, taskId, state, wakeWith, claimWith }: WaitView,
): string | undefined {
  switch (kind) {
    case "signal":
      return commandLine(program, server, ["signal", name]);
    case "message":
      return commandLine(program, server, [kind, name], { key: correlationKey || undefined });
    case "event":
      return commandLine(program, server, ["event", name], { target: instanceId });
    case "task": {
      if (taskId === undefined || state === undefined) return undefined;
      const user = claimWith && userIn(claimWith.body);
      const claim = commandLine(program, server, ["claim", taskId], { user });
      const variables = JSON.stringify(variablesIn(wakeWith?.body));
      const complete = commandLine(program, server, ["complete", taskId], { variables });
      return user === undefined ? complete : `${claim} && ${complete}`;
    }
    case "timer":
    case "child":
    case "continuation":
    case "incident":
      return undefined;
  }
}

const userIn = (body: unknown): string | undefined => {
  const user = typeof body === "object" && body !== null && "user" in body ? body.user : undefined;
  return typeof user === "string" ? user : undefined;
};

const variablesIn = (body: unknown): unknown =>
  typeof body === "object" && body !== null && "variables" in body ? body.variables : {};

/** A command with its operands and options, to paste into a shell; it reads its token from the environment. */
export function commandLine(
  program: string,
  server: Server,
  [name, operand]: readonly [name: string, operand: string],
  options: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = { ...options, ...whereaboutsOf(server) };
  // An operand that starts with a dash would be parsed as an option.
  const isDashed = operand.startsWith("-");
  return [
    program,
    name,
    ...(isDashed ? [] : [word(operand)]),
    ...Object.entries(given).flatMap(([option, value]) =>
      value === undefined ? [] : [optionOf(option, value)],
    ),
    ...(isDashed ? ["--", word(operand)] : []),
  ].join(" ");
}

/** An API Gateway URL implies that calls are signed, and contains the region. */
function whereaboutsOf({ url, signedFor }: Server): Readonly<Record<string, string | undefined>> {
  const isPlain = signedFor === undefined || signedFor === awsRegionOf(url);
  return {
    url: url === DEFAULT_URL ? undefined : url,
    ...(isPlain ? {} : { aws: "", region: signedFor }),
  };
}

/** A switch has no value. */
function optionOf(name: string, value: string): string {
  if (value === "") return `--${name}`;
  return `--${name}${value.startsWith("-") ? "=" : " "}${word(value)}`;
}

function word(text: string): string {
  return /^[\w.,:/@%+-]+$/.test(text) ? text : quoted(text);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
