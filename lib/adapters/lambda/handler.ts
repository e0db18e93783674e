import { type LambdaClient, TooManyRequestsException } from "@aws-sdk/client-lambda";
import type { Variables } from "../../definition/json.ts";
import type { Parsed } from "../../definition/parsed.ts";
import type { Clock } from "../../ports/clock.ts";
import { failed } from "../../ports/task-failure.ts";
import type { TaskAttempt, TaskHandler, TaskOutcome } from "../../ports/tasks.ts";
import { type Answer, invoke } from "./invoke.ts";

type Options = Readonly<{
  /** A client without retries: a task that may have run is not run again implicitly. */
  client: LambdaClient;
  arn: string;
  /** The settings of the task from the deployment. */
  declared: Pick<TaskHandler, "timeoutMs" | "isolate" | "exclusive">;
  /** Parses the returned variables. */
  parseResult: (value: unknown, what: string) => Parsed<Variables>;
  clock: Pick<Clock, "pause">;
}>;

const TRIES = 4;
const FIRST_PAUSE_MS = 100;

/** A task that is another Lambda function: it gets `{ input, context }` and returns the variables. */
export function lambdaHandler(options: Options): TaskHandler {
  const { timeoutMs, isolate, exclusive } = options.declared;
  const run = (input: Variables, about: TaskAttempt) => outcomeOfCall(options, { input, about });
  return { timeoutMs, isolate, exclusive, run };
}

type Attempt = Readonly<{ input: Variables; about: TaskAttempt }>;

async function outcomeOfCall(options: Options, attempt: Attempt): Promise<TaskOutcome> {
  const { timeoutMs } = options.declared;
  const abortSignal = AbortSignal.timeout(timeoutMs);
  try {
    return outcomeOf(await call(options, attempt, abortSignal), options);
  } catch (cause) {
    if (isTooMany(cause)) return { kind: "not-run", retryAfterMs: pauseAfter(cause) };
    if (abortSignal.aborted) return failed(`The function did not answer within ${timeoutMs} ms.`);
    return failed(`The function could not be called: ${textOf(cause)}.`);
  }
}

/** Only a throttled call is retried: then nothing has run. */
async function call(
  { client, arn, clock }: Options,
  { input, about }: Attempt,
  abortSignal: AbortSignal,
): Promise<Answer> {
  const { ticket: _, ...context } = about;
  for (let tries = 1; ; tries++) {
    try {
      return await invoke({ client, functionName: arn, payload: { input, context }, abortSignal });
    } catch (cause) {
      if (!isTooMany(cause) || tries === TRIES) throw cause;
      await clock.pause(FIRST_PAUSE_MS * 2 ** tries);
      if (abortSignal.aborted) throw cause;
    }
  }
}

const isTooMany = (cause: unknown): cause is TooManyRequestsException =>
  cause instanceof TooManyRequestsException;

/** The delay that the service asks for, if any. */
function pauseAfter({ retryAfterSeconds }: TooManyRequestsException): number {
  const seconds = Number(retryAfterSeconds);
  return seconds > 0 ? seconds * 1_000 : DEFAULT_PAUSE_MS;
}

const DEFAULT_PAUSE_MS = 5_000;

function outcomeOf(answer: Answer, { parseResult }: Options): TaskOutcome {
  if ("error" in answer) return failureOf(answer.error, parseResult);
  const result = parseResult(answer.value, "the result");
  if (result.ok) return { kind: "completed", variables: result.value };
  return failed(`The function returned what cannot be kept: ${result.problem} ${result.hint}`);
}

/** Only an error named BusinessError has a code; any other uses up a retry. */
function failureOf(
  { errorType, errorMessage, code, variables }: Readonly<Record<string, unknown>>,
  parseResult: Options["parseResult"],
): TaskOutcome {
  const text = typeof errorMessage === "string" ? errorMessage : "";
  const told = text === "" ? `The function failed with ${String(errorType)}.` : text;
  const businessCode = errorType === "BusinessError" ? codeOf(code, text) : undefined;
  if (businessCode === undefined) return failed(told);
  const carried = variables === undefined ? undefined : parseResult(variables, "variables");
  const kept = carried?.ok === true ? { variables: carried.value } : {};
  return { ...failed(told), code: businessCode, ...kept };
}

/** Lambda passes on an error's name and message alone, so the message may begin with the code. */
function codeOf(code: unknown, message: string): string | undefined {
  if (typeof code === "string" && code !== "") return code;
  return /^([^\s:]+)(?::|$)/.exec(message)?.[1];
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
}
