import type { WaitView } from "../lib/client/index.ts";
import { DEFAULT_URL, type Server } from "./server.ts";

/** A call, ready to be pasted into a shell. The token is named, never shown. */
export function curlLine(
  { url, token }: Server,
  { method, path, body }: NonNullable<WaitView["wakeWith"]>,
): string {
  return [
    `curl -X ${method} ${quoted(`${url}${path}`)}`,
    ...(token === undefined ? [] : ['-H "authorization: Bearer $FERMATA_TOKEN"']),
    ...(body === undefined
      ? []
      : [`-H 'content-type: application/json' -d ${quoted(JSON.stringify(body))}`]),
  ].join(" ");
}

/** The command that would end a wait of an instance, where there is one. */
export function wakingLine(
  program: string,
  server: Server,
  instanceId: string,
  { kind, name = "", correlationKey }: WaitView,
): string | undefined {
  switch (kind) {
    case "signal":
      return commandLine(program, server, ["signal", name]);
    case "message":
      return commandLine(program, server, [kind, name], { key: correlationKey || undefined });
    case "event":
      return commandLine(program, server, ["event", name], { target: instanceId });
    case "task":
    case "timer":
    case "continuation":
    case "incident":
      return undefined;
  }
}

/** A command with its operands and options, ready to be pasted; it finds its token by itself. */
export function commandLine(
  program: string,
  { url }: Server,
  [name, operand]: readonly [name: string, operand: string],
  options: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = { ...options, url: url === DEFAULT_URL ? undefined : url };
  // What begins with a dash would be taken for an option.
  const isDashed = operand.startsWith("-");
  return [
    program,
    name,
    ...(isDashed ? [] : [word(operand)]),
    ...Object.entries(given).flatMap(([option, value]) =>
      value === undefined ? [] : [`--${option}${value.startsWith("-") ? "=" : " "}${word(value)}`],
    ),
    ...(isDashed ? ["--", word(operand)] : []),
  ].join(" ");
}

function word(text: string): string {
  return /^[\w.,:/@%+-]+$/.test(text) ? text : quoted(text);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
