import { awsRegionOf } from "../lib/client/aws/index.ts";
import type { WaitView } from "../lib/client/index.ts";
import { DEFAULT_URL, type Server } from "./server.ts";

/** A call, ready to be pasted into a shell. Token and keys are named, never shown. */
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

/** curl signs by itself, as the credentials that the shell has in its environment. */
function proofOf({ token, signedFor }: Server): readonly string[] {
  if (signedFor !== undefined) {
    return [
      `--aws-sigv4 aws:amz:${signedFor}:execute-api`,
      '--user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"',
      // Only credentials of a session have one, and curl would sign an empty header without sending it.
      `\${AWS_SESSION_TOKEN:+-H"x-amz-security-token: $AWS_SESSION_TOKEN"}`,
    ];
  }
  return token === undefined ? [] : ['-H "authorization: Bearer $FERMATA_TOKEN"'];
}

/** The command that would end a wait of an instance, where there is one. */
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

/** A command with its operands and options, ready to be pasted; it finds its token by itself. */
export function commandLine(
  program: string,
  server: Server,
  [name, operand]: readonly [name: string, operand: string],
  options: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = { ...options, ...whereaboutsOf(server) };
  // What begins with a dash would be taken for an option.
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

/** An API Gateway's URL says by itself that calls are signed, and for which region. */
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
