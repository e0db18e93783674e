/**
 * A worker: takes tasks of one type, as many at once as it is told, keeps their locks while it
 * works, and reports what came of them.
 *
 * 1. A task is reported once, under a key of its attempt, and again while no answer comes.
 * 2. Who has lost its task, or whose task nobody needs any more, is told by the signal; nothing is
 *    reported for it.
 * 3. A result or an error that the engine refuses for what it holds is a failure of the attempt: the
 *    next attempt would bring the same, and nobody would ever hear of it.
 * 4. Stopping asks for nothing more and waits for what is at work.
 */
import type { ActivatedTask, Activation, Heartbeat, Variables } from "../api/views.ts";
import { refuseUnknownOptions } from "./known-options.ts";

/** What a worker needs of a client; `createClient` gives one, `workerDoor` makes one of an engine. */
export type WorkerClient = Readonly<{
  activate(
    request: Readonly<{
      type: string;
      max: number;
      lockSeconds: number;
      worker: string;
      waitSeconds?: number;
    }>,
  ): Promise<Activation>;
  heartbeat(
    taskId: string,
    request: Readonly<{ lockToken: string; lockSeconds?: number }>,
  ): Promise<Heartbeat>;
  completeTask(
    taskId: string,
    request: Readonly<{ lockToken?: string; variables?: Variables }>,
    keyed?: Readonly<{ idempotencyKey?: string }>,
  ): Promise<unknown>;
  failTask(
    taskId: string,
    request: Readonly<{
      lockToken?: string;
      message: string;
      code?: string;
      variables?: Variables;
    }>,
    keyed?: Readonly<{ idempotencyKey?: string }>,
  ): Promise<unknown>;
}>;

export type WorkerOptions = Readonly<{
  client: WorkerClient;
  /** Tasks that are at work at once; 1 unless said, at most 100. */
  concurrency?: number;
  /** For how long a task is this worker's without a heartbeat; 60 unless said. */
  lockSeconds?: number;
  /** How long a poll waits, and how long the pauses between polls may get; 20 unless said. */
  pollSeconds?: number;
  /** Who this is, for those who look; made up unless said. */
  name?: string;
  /** Hears of what could not be done and is tried again, or was left. */
  onTrouble?: (about: string, error: unknown) => void;
}>;

const WORKER_OPTIONS = {
  client: true,
  concurrency: true,
  lockSeconds: true,
  pollSeconds: true,
  name: true,
  onTrouble: true,
} as const;

/** What a task's function is given besides the task. */
export type WorkerContext = Readonly<{
  /** Aborted when the task was interrupted or taken over, or the worker stops waiting for it. */
  signal: AbortSignal;
  /** Keeps the lock at once; else that is done by itself. */
  heartbeat(): Promise<void>;
}>;

/** Does one task; an object that it returns, or promises, is the result. */
export type Work = (task: Omit<ActivatedTask, "lockToken">, context: WorkerContext) => unknown;

export type Worker = Readonly<{
  /** Asks for nothing more, and resolves when all is reported; what is left after the time is let go. */
  stop(options?: Readonly<{ graceMs?: number }>): Promise<void>;
  /** Resolves when it has stopped. */
  stopped: Promise<void>;
  /** How many tasks are at work. */
  readonly busy: number;
}>;

/** An error that boundary events can catch by its code. */
export class BusinessError extends Error {
  override readonly name = "BusinessError";
  readonly code: string;
  readonly variables: Variables | undefined;

  constructor(code: string, message: string, variables?: Variables) {
    super(message);
    this.code = code;
    this.variables = variables;
  }
}

const DEFAULT_GRACE_MS = 30_000;

/** Works on tasks of a type until it is stopped. */
export function worker(type: string, work: Work, options: WorkerOptions): Worker {
  refuseUnknownOptions("worker", options, WORKER_OPTIONS);
  const crew = new Crew(type, work, options);
  const stopped = crew.run();
  return {
    stop: ({ graceMs = DEFAULT_GRACE_MS } = {}) => crew.stop(graceMs, stopped),
    stopped,
    get busy() {
      return crew.busy;
    },
  };
}

class Crew {
  readonly #type: string;
  readonly #work: Work;
  readonly #options: Required<Omit<WorkerOptions, "onTrouble">> & Pick<WorkerOptions, "onTrouble">;
  readonly #jobs = new Map<Promise<void>, AbortController>();
  readonly #stopping = new AbortController();

  constructor(type: string, work: Work, options: WorkerOptions) {
    this.#type = type;
    this.#work = work;
    this.#options = {
      concurrency: 1,
      lockSeconds: 60,
      pollSeconds: 20,
      name: `worker-${Math.random().toString(36).slice(2, 10)}`,
      ...options,
    };
  }

  get busy(): number {
    return this.#jobs.size;
  }

  async run(): Promise<void> {
    for (let idle = 0; !this.#stopping.signal.aborted; ) {
      const max = Math.min(this.#options.concurrency, MAX_AT_ONCE) - this.#jobs.size;
      if (max <= 0) {
        await this.#untilStopped(Promise.race(this.#jobs.keys()));
        continue;
      }
      const polled = await this.#poll(max);
      for (const task of polled?.tasks ?? []) this.#begin(task);
      idle = this.#hasWaited(polled) ? 0 : idle + 1;
      if (idle > 0) await this.#rest(idle, polled?.retryAfter);
    }
    await Promise.all(this.#jobs.keys());
  }

  async stop(graceMs: number, stopped: Promise<void>): Promise<void> {
    this.#stopping.abort();
    const grace = timeout(graceMs);
    await Promise.race([stopped, grace.over]);
    grace.cancel();
    for (const job of this.#jobs.values()) job.abort(new Error("The worker stops."));
    // A function that does not heed its signal is not waited for: its lock ends by itself.
  }

  /** Who was given something, or has waited for it where the tasks are, asks again at once. */
  #hasWaited(polled: Activation | undefined): boolean {
    if (polled === undefined || polled.tasks.length > 0) return polled !== undefined;
    return polled.retryAfter === undefined && this.#waitSeconds > 0;
  }

  get #waitSeconds(): number {
    return Math.min(MAX_WAIT_SECONDS, Math.max(0, Math.floor(this.#options.pollSeconds)));
  }

  async #poll(max: number): Promise<Activation | undefined> {
    const { client, lockSeconds, name: worker } = this.#options;
    const waitSeconds = this.#waitSeconds;
    try {
      const asked = client.activate({ type: this.#type, max, lockSeconds, worker, waitSeconds });
      const answer = await this.#untilStopped(asked);
      // What comes after the stop is not begun: its lock ends by itself.
      asked.catch(() => {});
      return answer ?? { tasks: [] };
    } catch (error) {
      this.#options.onTrouble?.(`tasks of type ${this.#type} could not be asked for`, error);
      return undefined;
    }
  }

  /** Longer and longer while there is nothing, or nobody answers. */
  async #rest(idle: number, retryAfter: number | undefined): Promise<void> {
    const most = Math.max(0, this.#options.pollSeconds) * 1_000;
    const least = (retryAfter ?? 0) * 1_000;
    const grown = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(idle, 20), most);
    const pause = timeout(Math.max(least, grown * (0.5 + Math.random() / 2)));
    await this.#untilStopped(pause.over);
    pause.cancel();
  }

  /** Undefined when the worker stops before; nothing is left hanging on what stops it. */
  async #untilStopped<T>(work: Promise<T>): Promise<T | undefined> {
    const { signal } = this.#stopping;
    const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
    const stop = () => resolve(undefined);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      return await Promise.race([work, stopped]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  #begin(task: ActivatedTask): void {
    const abort = new AbortController();
    const job = this.#do(task, abort)
      .catch((error) => this.#options.onTrouble?.(`task ${task.taskId} was not reported`, error))
      .finally(() => this.#jobs.delete(job));
    this.#jobs.set(job, abort);
  }

  async #do(activated: ActivatedTask, abort: AbortController): Promise<void> {
    const { lockToken, ...task } = activated;
    const lock = { token: lockToken };
    const beats = this.#beat(task.taskId, lock, abort);
    let report: (() => Promise<unknown>) | undefined;
    let failure: Failure | undefined;
    try {
      const variables = resultOf(
        await this.#work(task, { signal: abort.signal, heartbeat: () => beats.now() }),
      );
      report = () => this.#complete(task, lock.token, variables);
    } catch (error) {
      const failed = failureOf(error);
      failure = failed;
      report = () => this.#fail(task, lock.token, failed);
    } finally {
      await beats.stop();
    }
    if (abort.signal.aborted) return;
    try {
      await this.#report(task.taskId, report);
    } catch (error) {
      if (!isAboutContent(error)) throw error;
      this.#options.onTrouble?.(`what task ${task.taskId} brought was refused`, error);
      const plain = { message: messageOf(error, failure?.message) };
      await this.#report(task.taskId, () => this.#fail(task, lock.token, plain, "refused"));
    }
  }

  #complete(task: Omit<ActivatedTask, "lockToken">, lockToken: string, variables: Variables) {
    const { client } = this.#options;
    return client.completeTask(task.taskId, { lockToken, variables }, keyOf(task, "complete"));
  }

  #fail(
    task: Omit<ActivatedTask, "lockToken">,
    lockToken: string,
    failure: Failure,
    what: "fail" | "refused" = "fail",
  ) {
    const { client } = this.#options;
    return client.failTask(task.taskId, { lockToken, ...failure }, keyOf(task, what));
  }

  /** Again while nobody answers; a refusal is final. */
  async #report(taskId: string, send: () => Promise<unknown>): Promise<void> {
    const until = Date.now() + this.#options.lockSeconds * 1_000;
    for (let tries = 0; ; tries++) {
      try {
        await send();
        return;
      } catch (error) {
        if (isFinal(error) || Date.now() >= until) throw error;
        this.#options.onTrouble?.(`task ${taskId} is reported again`, error);
        await timeout(Math.min(FIRST_PAUSE_MS * 2 ** tries, MAX_PAUSE_MS)).over;
      }
    }
  }

  #beat(taskId: string, lock: { token: string }, abort: AbortController) {
    const { client, lockSeconds } = this.#options;
    let current: Promise<void> = Promise.resolve();
    const beat = async () => {
      try {
        const kept = await client.heartbeat(taskId, { lockToken: lock.token, lockSeconds });
        if ("cancelled" in kept) abort.abort(new Error("Nobody needs the task any more."));
        else lock.token = kept.lockToken;
      } catch (error) {
        if (isFinal(error)) abort.abort(error);
        this.#options.onTrouble?.(`the lock of task ${taskId} was not kept`, error);
      }
    };
    const now = () => {
      current = current.then(() => (abort.signal.aborted ? undefined : beat()));
      return current;
    };
    const timer = setInterval(() => void now(), (lockSeconds * 1_000) / 3);
    return {
      now,
      /** The token must not change any more while it is being reported. */
      stop: () => {
        clearInterval(timer);
        return current;
      },
    };
  }
}

const MAX_AT_ONCE = 100;
const MAX_WAIT_SECONDS = 25;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;

const keyOf = ({ idempotencyKey, attempt }: Omit<ActivatedTask, "lockToken">, what: string) => ({
  idempotencyKey: `${what}:${idempotencyKey}/${attempt}`,
});

/** The result as it can be sent; throws where it cannot. */
function resultOf(value: unknown): Variables {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  JSON.stringify(value);
  return value as Variables;
}

type Failure = Readonly<{ message: string; code?: string; variables?: Variables }>;

/** Node's own codes, such as ECONNREFUSED, are no business errors: only the name makes one. */
function failureOf(error: unknown): Failure {
  const message = messageOf(error);
  if (!(error instanceof Error) || error.name !== "BusinessError") return { message };
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const variables = error instanceof BusinessError ? error.variables : undefined;
  return {
    message,
    ...(code && { code }),
    ...(variables !== undefined && { variables }),
  };
}

/** As much as a report may say; `about` is what could not be said. */
function messageOf(error: unknown, about?: string): string {
  const said = error instanceof Error ? error.message : String(error);
  const whole = about === undefined ? said : `${said} (${about})`;
  const cut = whole.length > MAX_MESSAGE ? `${whole.slice(0, MAX_MESSAGE - 1)}…` : whole;
  return cut.toWellFormed();
}

const MAX_MESSAGE = 1_000;

/** A refusal of what was brought, not of who brings it or when. */
function isAboutContent(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  if ("status" in error && error.status === 413) return true;
  return "code" in error && typeof error.code === "string" && ABOUT_CONTENT.has(error.code);
}

const ABOUT_CONTENT: ReadonlySet<string> = new Set([
  "request/invalid",
  "request/body-too-large",
  "task/outputs-missing",
]);

/** An answer that will not change: a 4xx but for "too much at once"; an engine's own refusal. */
function isFinal(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  if ("status" in error && typeof error.status === "number") {
    return error.status >= 400 && error.status < 500 && error.status !== 429;
  }
  return "retryable" in error && error.retryable === false;
}

function timeout(ms: number): { over: Promise<void>; cancel: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  return {
    over: promise,
    cancel: () => {
      clearTimeout(timer);
      resolve();
    },
  };
}
