/** The host's side of the thread that guests run in. */
import { Worker } from "node:worker_threads";
import {
  type Answer,
  PER_MESSAGE,
  type Request,
  readAnswers,
  writeBatch,
} from "./worker-protocol.ts";

/**
 * The thread has ended: because it did not come back from this very request, because it broke while
 * it served it, or for a reason that has nothing to do with it.
 */
export type Gone = Readonly<{ gone: "deadline" | "crash" | "lost"; message?: string }>;

export type NewRequest = Request extends infer R
  ? R extends Request
    ? Omit<R, "id">
    : never
  : never;

export class GuestThread {
  readonly #worker: Worker;
  readonly #deadlineMs: number;
  /** The number of the request that the thread is serving. */
  readonly #current = new Int32Array(new SharedArrayBuffer(4));
  readonly #asked = new Map<number, (answer: Answer | Gone) => void>();
  readonly #programs = new Map<number, Promise<Answer | Gone>>();
  #batch: Request[] = [];
  #flushing: NodeJS.Immediate | undefined;
  #numbers = 0;
  #watch: NodeJS.Timeout | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #hasEnded = false;

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    this.#worker = new Worker(new URL(`./guest-worker.${extension}`, import.meta.url), {
      workerData: this.#current.buffer,
      name: "fermata-workflows",
      // Those of the process may be for its own main file, as --eval is.
      execArgv: [],
    });
    this.#worker.on("message", (answers: string) => this.#settle(readAnswers(answers)));
    this.#worker.on("error", ({ message }) => void this.end("crash", message));
    this.#worker.on("exit", () => void this.end("crash"));
    this.#worker.unref();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether it owes an answer, or was asked for something within the last moments. */
  get isInUse(): boolean {
    return this.#asked.size > 0 || performance.now() - this.#askedAt < IN_USE_MS;
  }

  /** Loads a program, once however often it is asked for. */
  load(program: number, bundle: string): Promise<Answer | Gone> {
    const known = this.#programs.get(program);
    if (known) return known;
    const loading = this.ask({ kind: "load", program, bundle });
    this.#programs.set(program, loading);
    return loading;
  }

  ask(request: NewRequest): Promise<Answer | Gone> {
    if (this.#hasEnded) return Promise.resolve({ gone: "lost" });
    const { promise, resolve } = Promise.withResolvers<Answer | Gone>();
    if (this.#asked.size === 0) this.#worker.ref();
    this.#asked.set(this.send(request), resolve);
    this.#watch ??= this.#watched();
    return promise;
  }

  /** Puts a request into the batch, which goes at the end of this turn or when it is full. */
  send(request: NewRequest): number {
    this.#numbers += 1;
    this.#batch.push({ ...request, id: this.#numbers });
    if (this.#batch.length >= PER_MESSAGE) this.#flush();
    else this.#flushing ??= setImmediate(() => this.#flush());
    return this.#numbers;
  }

  /** Ends the thread; whatever it has not answered is told so, and why if it is the reason. */
  async end(why: Gone["gone"], message?: string): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const culprit = Atomics.load(this.#current, 0);
    clearInterval(this.#watch);
    await this.#worker.terminate();
    const said = message === undefined ? {} : { message };
    for (const [id, resolve] of this.#asked) {
      resolve({ gone: id === culprit ? why : "lost", ...said });
    }
    this.#asked.clear();
  }

  #flush(): void {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    const batch = this.#batch;
    this.#batch = [];
    this.#askedAt = performance.now();
    if (!this.#hasEnded) this.#worker.postMessage(writeBatch(batch));
  }

  #settle(answers: readonly Answer[]): void {
    for (const answer of answers) {
      this.#asked.get(answer.id)?.(answer);
      this.#asked.delete(answer.id);
    }
    if (this.#asked.size === 0) this.#worker.unref();
  }

  /**
   * Ends the thread when it serves the same request for longer than the deadline. A late check counts
   * for at most two intervals: when the process is suspended, both threads are.
   */
  #watched(): NodeJS.Timeout {
    let last = 0;
    let servedMs = 0;
    let lookedAt = performance.now();
    return setInterval(() => {
      const now = Atomics.load(this.#current, 0);
      const sinceMs = Math.min(performance.now() - lookedAt, 2 * WATCHED_EVERY_MS);
      lookedAt = performance.now();
      servedMs = now === last ? servedMs + sinceMs : 0;
      last = now;
      if (now !== 0 && servedMs >= this.#deadlineMs) void this.end("deadline");
      if (this.#asked.size === 0) this.#rest();
    }, WATCHED_EVERY_MS).unref();
  }

  #rest(): void {
    clearInterval(this.#watch);
    this.#watch = undefined;
  }
}

const WATCHED_EVERY_MS = 100;

/** Longer than a commit of many instances takes. */
const IN_USE_MS = 20;
