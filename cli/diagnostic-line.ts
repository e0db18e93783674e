import type { Diagnostic, Problem } from "../lib/client/index.ts";

/** A diagnostic, or an entry of a problem that may be one. */
export type Told = Diagnostic | NonNullable<Problem["errors"]>[number];

/** `file:line element message hint [code]`, a format that editors can follow to the place. */
export function diagnosticLine(given: string, diagnostic: Told): string {
  const { severity, code, message, element, file = given, line, hint } = diagnostic;
  return [
    line === undefined ? file : `${file}:${line}`,
    ...(severity === "warning" ? ["warning:"] : []),
    // Most messages name the element themselves.
    ...(element === undefined || message.includes(`"${element}"`) ? [] : [`"${element}":`]),
    message,
    ...(hint === undefined ? [] : [hint]),
    ...(code === undefined ? [] : [`[${code}]`]),
  ].join(" ");
}
