/**
 * The sandbox in a thread of its own.
 *
 * 1. Requests of one turn of the event loop go over together, and so do their answers.
 * 2. A request that does not come back in time ends the thread: nothing inside can prevent that. The
 *    request is stopped by its deadline; all others are lost through no fault of theirs and are made
 *    again, since sessions are only caches.
 * 3. The thread does not keep the process alive.
 */
import { Worker } from "node:worker_threads";
import { MAX_GUEST_MS } from "../../definition/limits.ts";
import type {
  GuestProgram,
  GuestSession,
  Loaded,
  Opening,
  Ran,
  Sandbox,
} from "../../definition/sandbox.ts";
import { quickjs } from "./wasm.ts";
import type { Answer, Request } from "./worker-protocol.ts";

/** A sandbox in a thread of its own, which starts with the first bundle. */
export function workerSandbox({ deadlineMs = MAX_GUEST_MS } = {}): Sandbox {
  return new WorkerSandbox(deadlineMs);
}

/** A thread, and what it has been asked. */
type Thread = Readonly<{
  worker: Worker;
  current: Int32Array;
  asked: Map<number, (answer: Answer | Gone) => void>;
  programs: Set<number>;
  watch: NodeJS.Timeout;
}>;

/** The thread has ended; `isOwn`: because of this very request. */
type Gone = Readonly<{ isOwn: boolean }>;

type NewRequest = Request extends infer R ? (R extends Request ? Omit<R, "id"> : never) : never;

class WorkerSandbox implements Sandbox {
  readonly #deadlineMs: number;
  #thread: Thread | undefined;
  #waiting: Request[] = [];
  #numbers = 0;

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
  }

  get engine(): string {
    return quickjs().name;
  }

  async load(bundle: string): Promise<Loaded> {
    const program = this.#number();
    const answer = await this.#ask({ kind: "load", program, bundle });
    if ("problem" in answer) return { ok: false, problem: answer.problem };
    if (!("declared" in answer)) {
      const stopped = "isOwn" in answer && answer.isOwn ? "deadline" : "lost";
      return { ok: false, problem: { message: LATE, stopped } };
    }
    this.#thread?.programs.add(program);
    return { ok: true, program: this.#program(program, bundle, answer.declared) };
  }

  async close(): Promise<void> {
    await this.#end(undefined);
  }

  #program(program: number, bundle: string, declared: GuestProgram["declared"]): GuestProgram {
    const ready = async () => {
      if (this.#thread?.programs.has(program)) return;
      // The thread that had it is gone.
      await this.#ask({ kind: "load", program, bundle });
      this.#thread?.programs.add(program);
    };
    return { declared, open: (opening) => this.#session(program, ready, opening) };
  }

  #session(program: number, ready: () => Promise<void>, opening: Opening): GuestSession {
    const session = this.#number();
    let thread: Thread | undefined;
    return {
      run: async (feeds) => {
        await ready();
        const isFirst = thread === undefined;
        thread ??= this.#thread;
        if (thread !== this.#thread) return [LOST];
        const answer = await this.#ask({
          kind: "run",
          session,
          program,
          feeds,
          ...(isFirst && { opening }),
        });
        return ranOf(answer);
      },
      close: () => {
        if (thread && thread === this.#thread) this.#send({ kind: "close", session });
      },
    };
  }

  #ask(request: NewRequest): Promise<Answer | Gone> {
    const { promise, resolve } = Promise.withResolvers<Answer | Gone>();
    this.#thread ??= this.#start();
    const thread = this.#thread;
    thread.asked.set(this.#send(request), resolve);
    thread.worker.ref();
    return promise;
  }

  /** Puts a request into the batch of this turn. */
  #send(request: NewRequest): number {
    const id = this.#number();
    this.#waiting.push({ ...request, id });
    if (this.#waiting.length === 1) setImmediate(() => this.#flush());
    return id;
  }

  #flush(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    this.#thread?.worker.postMessage(batch);
  }

  #number(): number {
    this.#numbers += 1;
    return this.#numbers;
  }

  #start(): Thread {
    const shared = new SharedArrayBuffer(4);
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const worker = new Worker(new URL(`./guest-worker.${extension}`, import.meta.url), {
      workerData: shared,
      name: "fermata-workflows",
    });
    const current = new Int32Array(shared);
    const thread: Thread = {
      worker,
      current,
      asked: new Map(),
      programs: new Set(),
      watch: this.#watch(current),
    };
    worker.on("message", (answers: readonly Answer[]) => settle(thread, answers));
    worker.on("error", () => void this.#end(Atomics.load(current, 0)));
    worker.unref();
    return thread;
  }

  /** Ends the thread when it serves the same request for longer than the deadline. */
  #watch(current: Int32Array): NodeJS.Timeout {
    let last = 0;
    let since = Date.now();
    return setInterval(() => {
      const now = Atomics.load(current, 0);
      if (now !== last) since = Date.now();
      last = now;
      if (now !== 0 && Date.now() - since >= this.#deadlineMs) void this.#end(now);
    }, WATCHED_EVERY_MS).unref();
  }

  async #end(culprit: number | undefined): Promise<void> {
    const thread = this.#thread;
    if (thread === undefined) return;
    this.#thread = undefined;
    clearInterval(thread.watch);
    this.#waiting = [];
    await thread.worker.terminate();
    for (const [id, resolve] of thread.asked) resolve({ isOwn: id === culprit });
  }
}

const WATCHED_EVERY_MS = 100;

function settle({ asked, worker }: Thread, answers: readonly Answer[]): void {
  for (const answer of answers) {
    asked.get(answer.id)?.(answer);
    asked.delete(answer.id);
  }
  if (asked.size === 0) worker.unref();
}

const LATE = "The workflow ran for too long without waiting: is there an endless loop?";
const LOST: Ran = { kind: "stopped", stop: "lost", message: "The sandbox was restarted." };

function ranOf(answer: Answer | Gone): readonly Ran[] {
  if ("ran" in answer) return answer.ran;
  if ("isOwn" in answer && answer.isOwn) {
    return [{ kind: "stopped", stop: "deadline", message: LATE }];
  }
  return [LOST];
}
