/** The host's side of the thread that guests run in: its requests, their answers and its end. */
import { Worker } from "node:worker_threads";
import { ThreadLink } from "./thread-link.ts";
import type { ThreadMemory } from "./thread-memory.ts";
import {
  type Answer,
  KnownTypes,
  type Request,
  readAnswer,
  writeRequest,
} from "./worker-protocol.ts";

/**
 * The thread has ended: because it did not come back from this very request, because it broke while
 * it served it, or for a reason that has nothing to do with it.
 */
export type Gone = Readonly<{ gone: "deadline" | "crash" | "lost"; message?: string }>;

/** How long the thread may take for one feed, and for loading a bundle. */
export type Deadlines = Readonly<{ feedMs: number; loadMs: number }>;

export class GuestThread {
  readonly #link: ThreadLink;
  readonly #deadlines: Deadlines;
  readonly #types = new KnownTypes();
  readonly #asked = new Map<number, (answer: Answer | Gone) => void>();
  readonly #programs = new Map<number, Promise<Answer | Gone>>();
  readonly #loads = new Set<number>();
  #numbers = 0;
  #watch: NodeJS.Timeout | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #hasEnded = false;

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines;
    this.#link = new ThreadLink({
      start: startWorker,
      onText: (text) => this.#settle(readAnswer(text, this.#types)),
      isOwed: () => this.#asked.size > 0,
    });
    this.#link.worker.on("error", ({ message }) => void this.end("crash", message));
    this.#link.worker.on("exit", () => void this.end("crash"));
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
    const loading = this.ask({ kind: "load", program, bundle }, (answer) => answer);
    this.#programs.set(program, loading);
    return loading;
  }

  /** What `read` makes of the answer to a request. */
  ask<T>(request: Request, read: (answer: Answer | Gone) => T): Promise<T> {
    if (this.#hasEnded) return Promise.resolve(read({ gone: "lost" }));
    return new Promise((resolve) => {
      this.#asked.set(this.send(request), (answer) => resolve(read(answer)));
      this.#watch ??= this.#watched();
    });
  }

  /** Hands a request over; returns its number. */
  send(request: Request): number {
    this.#numbers += 1;
    if (request.kind === "load") this.#loads.add(this.#numbers);
    this.#askedAt = performance.now();
    if (!this.#hasEnded) this.#link.send(writeRequest({ id: this.#numbers, request }));
    return this.#numbers;
  }

  /** Settles the requests whose answers are there; false when there is none. */
  deliver(): boolean {
    return this.#link.deliver();
  }

  /** Ends the thread; whatever it has not answered is told so, and why if it is the reason. */
  async end(why: Gone["gone"], message?: string): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const culprit = this.#link.current;
    clearInterval(this.#watch);
    await this.#link.end();
    const said = message === undefined ? {} : { message };
    for (const [id, resolve] of this.#asked) {
      resolve({ gone: id === culprit ? why : "lost", ...said });
    }
    this.#asked.clear();
  }

  #settle(answer: Answer): void {
    this.#types.learn(answer);
    this.#asked.get(answer.id)?.(answer);
    this.#asked.delete(answer.id);
  }

  /**
   * Ends the thread when it stays at the same feed or load for longer than its deadline. A late check counts
   * for at most two intervals: when the process is suspended, both threads are.
   */
  #watched(): NodeJS.Timeout {
    let last = { request: 0, fed: 0 };
    let servedMs = 0;
    let lookedAt = performance.now();
    return setInterval(() => {
      const now = { request: this.#link.current, fed: this.#link.fed };
      const sinceMs = Math.min(performance.now() - lookedAt, 2 * WATCHED_EVERY_MS);
      lookedAt = performance.now();
      const isSame = now.request === last.request && now.fed === last.fed;
      servedMs = isSame ? servedMs + sinceMs : 0;
      last = now;
      if (now.request !== 0 && servedMs >= this.#deadlineOf(now.request)) void this.end("deadline");
      if (this.#asked.size === 0) this.#rest();
    }, WATCHED_EVERY_MS).unref();
  }

  #deadlineOf(request: number): number {
    const { feedMs, loadMs } = this.#deadlines;
    return this.#loads.has(request) ? loadMs : feedMs;
  }

  #rest(): void {
    clearInterval(this.#watch);
    this.#watch = undefined;
  }
}

function startWorker(memory: ThreadMemory): Worker {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new Worker(new URL(`./guest-worker.${extension}`, import.meta.url), {
    workerData: memory,
    transferList: [memory.large],
    name: "fermata-workflows",
    // Those of the process may be for its own main file, as --eval is.
    execArgv: [],
  });
}

const WATCHED_EVERY_MS = 100;

/** Longer than a commit of many instances takes. */
const IN_USE_MS = 20;
