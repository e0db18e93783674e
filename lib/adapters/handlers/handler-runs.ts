import type { Json } from "../../definition/json.ts";
import { type Alarm, processAlarm } from "../../ports/alarm.ts";
import { failed } from "../../ports/task-failure.ts";
import type { TaskAttempt, TaskOutcome } from "../../ports/tasks.ts";
import { parseJsonResult, parseTaskResult } from "./task-result.ts";

/** What a handler gets about its attempt. */
export type TaskContext = Readonly<{
  taskId: string;
  instanceId: string;
  element: string;
  /** The same for all attempts: pass it on to services that must not act twice. */
  idempotencyKey: string;
  attempt: number;
  headers: Readonly<Record<string, string>>;
  /** Aborted when the result is no longer wanted: interrupted, timed out, or shut down. */
  signal: AbortSignal;
  /** Resolves while the result is wanted, and throws when it no longer is. */
  heartbeat(): Promise<void>;
}>;

/** Thrown where another attempt would fail in the same way: the remaining attempts are not used. */
export class HopelessFailure extends Error {
  override readonly name = "HopelessFailure";
}

/** The user's own code. */
export type TaskCode = (input: never, context: TaskContext) => unknown;

/** The handlers that are running in this process, and how to abort them. */
export class HandlerRuns {
  readonly #alarm: Alarm;
  readonly #runs = new Map<string, Set<Run>>();
  #abandoned = 0;
  #isShutDown = false;

  constructor({ alarm = processAlarm }: Readonly<{ alarm?: Alarm }> = {}) {
    this.#alarm = alarm;
  }

  /** Handlers that were abandoned, because they were still running at the shutdown. */
  get abandoned(): number {
    return this.#abandoned;
  }

  /** Runs the code once. Never throws; a result after the timeout is dropped. */
  async run(
    code: TaskCode,
    input: Json,
    { about, timeoutMs }: Readonly<{ about: TaskAttempt; timeoutMs: number }>,
  ): Promise<TaskOutcome> {
    if (this.#isShutDown) {
      this.#abandoned++;
      return never();
    }
    const controller = new AbortController();
    const early = Promise.withResolvers<TaskOutcome>();
    const run: Run = { controller, end: early.resolve };
    const callOff = this.#alarm(timeoutMs, () => {
      early.resolve(failed(`The handler timed out after ${timeoutMs} ms.`));
      controller.abort(new DOMException("The task timed out.", "TimeoutError"));
    });
    const name = nameOf(about.instanceId, about.ticket);
    this.#runs.set(name, (this.#runs.get(name) ?? new Set()).add(run));
    const outcome = await Promise.race([
      call(code, input, about, controller.signal),
      early.promise,
    ]);
    callOff();
    this.#forget(name, run);
    return this.#isShutDown ? never() : outcome;
  }

  /** Aborts the signals of the handlers of a ticket; their results are ignored. */
  stop(instanceId: string, ticket: string): void {
    for (const { controller, end } of this.#runs.get(nameOf(instanceId, ticket)) ?? []) {
      end(failed("The task was interrupted."));
      controller.abort(new DOMException("The task was interrupted.", "AbortError"));
    }
  }

  /**
   * Aborts every signal. No outcome is reported from here on: the attempts are repeated after a
   * restart.
   */
  shutDown(): void {
    this.#isShutDown = true;
    for (const { controller, end } of [...this.#runs.values()].flatMap((runs) => [...runs])) {
      this.#abandoned++;
      end(failed("The engine was shut down."));
      controller.abort(new DOMException("The engine is shutting down.", "AbortError"));
    }
  }

  #forget(name: string, run: Run): void {
    const runs = this.#runs.get(name);
    runs?.delete(run);
    if (runs?.size === 0) this.#runs.delete(name);
  }
}

type Run = Readonly<{ controller: AbortController; end: (outcome: TaskOutcome) => void }>;

/** As if the process had crashed: the attempt has no outcome, and is repeated after the restart. */
function never(): Promise<never> {
  return new Promise(() => {});
}

/** Never rejects, so a handler that fails long after its timeout is no unhandled rejection. */
async function call(
  code: TaskCode,
  input: Json,
  about: TaskAttempt,
  signal: AbortSignal,
): Promise<TaskOutcome> {
  const { ticket: _, isLast: __, takesJson = false, ...known } = about;
  const heartbeat = async () => signal.throwIfAborted();
  try {
    // A copy: the handler may change its input, and the instance must not change with it.
    const value = await code(structuredClone(input) as never, { ...known, signal, heartbeat });
    return takesJson ? jsonOutcomeOf(value) : outcomeOf(value);
  } catch (error) {
    return failureOf(error);
  }
}

/** For a workflow in code: any JSON, and nothing is null. */
function jsonOutcomeOf(value: unknown): TaskOutcome {
  const result = parseJsonResult(value, "the result");
  if (result.ok) return { kind: "completed", variables: {}, result: result.value };
  return failed(`The handler returned what cannot be kept: ${result.problem} ${result.hint}`);
}

function outcomeOf(value: unknown): TaskOutcome {
  const result = parseTaskResult(value, "the result");
  if (result.ok) return { kind: "completed", variables: result.value };
  return failed(`The handler returned what cannot be kept: ${result.problem} ${result.hint}`);
}

/** Only the code of an error named BusinessError counts: Node's own errors have one, too. */
function failureOf(error: unknown): TaskOutcome {
  const { name, message, code, variables } = partsOf(error);
  const text = typeof message === "string" && message !== "" ? message : describe(error);
  if (isHopeless(error)) return { ...failed(text), retries: 0 };
  if (name !== "BusinessError" || typeof code !== "string" || code === "") return failed(text);
  if (variables === undefined) return { ...failed(text), code };
  const carried = parseTaskResult(variables, "variables of the error");
  if (carried.ok) return { ...failed(text), code, variables: carried.value };
  return { ...failed(`${text} (Its variables were dropped: ${carried.problem})`), code };
}

type ErrorParts = Partial<Record<"name" | "message" | "code" | "variables", unknown>>;

/** Reading a part may run code of the user; what cannot be read is left out. */
function partsOf(error: unknown): ErrorParts {
  if (typeof error !== "object" || error === null) return {};
  try {
    const { name, message, code, variables }: ErrorParts = error;
    return { name, message, code, variables };
  } catch {
    return {};
  }
}

function isHopeless(error: unknown): boolean {
  try {
    return error instanceof HopelessFailure;
  } catch {
    return false;
  }
}

function describe(error: unknown): string {
  const name = partsOf(error).name;
  if (typeof name === "string" && name !== "") return `The handler failed with ${name}.`;
  try {
    const text = String(error);
    const json = text === "[object Object]" ? JSON.stringify(error) : undefined;
    return `The handler threw ${json ?? text}.`;
  } catch {
    return "The handler threw a value that has no text.";
  }
}

function nameOf(instanceId: string, ticket: string): string {
  return `${instanceId}\0${ticket}`;
}
