import { ApiError } from "../lib/client/index.ts";
import { diagnosticLine } from "./diagnostic-line.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { UnreachableError } from "./server.ts";
import { UsageError } from "./usage-error.ts";

/** Turns an error into an exit code and the lines to print. */
export function explainFailure(
  error: unknown,
  { asJson }: Readonly<{ asJson: boolean }>,
): Readonly<{ exitCode: ExitCode; lines: readonly string[] }> {
  if (error instanceof UsageError) {
    return { exitCode: EXIT.usage, lines: [`fermata: ${error.message}`] };
  }
  if (error instanceof UnreachableError) {
    return { exitCode: EXIT.unreachable, lines: [`fermata: ${error.message}`] };
  }
  if (error instanceof ApiError) return { exitCode: EXIT.refused, lines: refusal(error, asJson) };
  return { exitCode: EXIT.refused, lines: trouble(error) };
}

/** With --json the problem details, exactly as the API returned them. */
function refusal(error: ApiError, asJson: boolean): readonly string[] {
  if (asJson && error.problem !== undefined) return [JSON.stringify(error.problem)];
  return [
    `fermata: ${error.message}`,
    ...error.errors.map((entry) => `  ${[...placeOf(entry), entry.message].join(": ")}`),
  ];
}

function placeOf({ at }: ApiError["errors"][number]): readonly string[] {
  return typeof at === "string" ? [at] : [];
}

/** Errors whose message is written for the caller. */
const EXPLAINED: ReadonlySet<string> = new Set(["EngineError", "SigningError"]);

/** Every problem of the workflows that an engine was to be opened with. */
function diagnosticsIn(error: Error): readonly string[] {
  const isInvalid = "code" in error && error.code === "definition/invalid";
  const details: unknown = "details" in error && isInvalid ? error.details : [];
  return (Array.isArray(details) ? details : []).map((told) => diagnosticLine("workflows", told));
}

/** The engine's own errors say what to do; for any other error the stack trace is printed. */
function trouble(error: unknown): readonly string[] {
  if (error instanceof Error && EXPLAINED.has(error.name)) {
    return [`fermata: ${error.message}`, ...diagnosticsIn(error)];
  }
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return [
    "fermata: Unexpected error. Please report it with these lines:",
    ...trace.split("\n").map((line) => `  ${line}`),
  ];
}
