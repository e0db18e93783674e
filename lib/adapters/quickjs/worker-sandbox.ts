/**
 * The sandbox in a thread of its own.
 *
 * 1. Requests and answers go through memory that both threads share: a thread that is woken for each of
 *    them would spend its time on that.
 * 2. A request that does not come back in time ends the thread: nothing inside can prevent that. The
 *    request is stopped by its deadline; all others are lost through no fault of theirs and are made
 *    again, since sessions are only caches.
 * 3. The thread does not keep the process alive, except while it owes an answer.
 * 4. What is still open when the sandbox is closed is lost, and so is what comes after that.
 */
import { MAX_GUEST_MS, MAX_LOAD_MS } from "../../definition/limits.ts";
import type {
  Feed,
  GuestProgram,
  GuestSession,
  Loaded,
  Opening,
  Ran,
  Sandbox,
} from "../../definition/sandbox.ts";
import { type Deadlines, type Gone, GuestThread } from "./guest-thread.ts";
import { CLOSED, type FeedText, feedText } from "./program.ts";
import { quickjs } from "./wasm.ts";
import type { Answer } from "./worker-protocol.ts";

/** A sandbox in a thread of its own, which starts with the first bundle. */
export function workerSandbox({
  deadlineMs,
}: Readonly<{ deadlineMs?: number }> = {}): WorkerSandbox {
  return new WorkerSandbox({
    feedMs: deadlineMs ?? MAX_GUEST_MS,
    loadMs: deadlineMs ?? MAX_LOAD_MS,
  });
}

export class WorkerSandbox implements Sandbox {
  readonly #deadlines: Deadlines;
  #thread: GuestThread | undefined;
  #isClosed = false;
  #numbers = 0;

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines;
  }

  get engine(): string {
    return quickjs().name;
  }

  /** Whether workflows run in the thread right now, or did a moment ago. */
  get isInUse(): boolean {
    return this.#thread?.isInUse ?? false;
  }

  /** Hands over what the thread has answered, before the event loop would; false if there is nothing. */
  deliver(): boolean {
    return this.#thread?.deliver() ?? false;
  }

  async load(bundle: string): Promise<Loaded> {
    const thread = this.#running();
    if (thread === undefined) return refused({ message: GONE.lost, stopped: "lost" });
    const program = this.#number();
    const answer = await thread.load(program, bundle);
    if ("problem" in answer) return refused(answer.problem);
    if ("gone" in answer) return refused({ message: messageOf(answer), stopped: answer.gone });
    if (!("declared" in answer)) throw new Error("The thread answered what it was not asked.");
    return { ok: true, program: this.#program(program, bundle, answer.declared) };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.end("lost");
  }

  #program(program: number, bundle: string, declared: GuestProgram["declared"]): GuestProgram {
    const open = (opening: Opening) => new WorkerSession(this.#opener(program, bundle, opening));
    return { declared, open };
  }

  #opener(program: number, bundle: string, opening: Opening): Opener {
    return { program, bundle, opening, session: this.#number(), thread: () => this.#running() };
  }

  /** The thread; another one when it has ended. */
  #running(): GuestThread | undefined {
    if (this.#isClosed) return undefined;
    if (this.#thread === undefined || this.#thread.hasEnded) {
      this.#thread = new GuestThread(this.#deadlines);
    }
    return this.#thread;
  }

  #number(): number {
    this.#numbers += 1;
    return this.#numbers;
  }
}

type Opener = Readonly<{
  program: number;
  bundle: string;
  opening: Opening;
  session: number;
  thread: () => GuestThread | undefined;
}>;

/** A session belongs to the thread that it was opened in, and is lost with it. */
class WorkerSession implements GuestSession {
  readonly #opener: Opener;
  #thread: GuestThread | undefined;
  #isClosed = false;

  constructor(opener: Opener) {
    this.#opener = opener;
  }

  run(feeds: readonly Feed[]): Promise<readonly Ran[]> {
    if (feeds.length === 0) return Promise.resolve([]);
    return this.#isClosed ? Promise.resolve([CLOSED]) : this.#ask(feeds.map(feedText));
  }

  close(): void {
    this.#isClosed = true;
    this.#thread?.send({ kind: "close", session: this.#opener.session });
  }

  #ask(feeds: readonly FeedText[]): Promise<readonly Ran[]> {
    const { program, bundle, opening, session } = this.#opener;
    const isFirst = this.#thread === undefined;
    this.#thread ??= this.#opener.thread();
    if (this.#thread === undefined) return Promise.resolve(ranOf({ gone: "lost" }));
    // Requests are served in order, so the program is there when the session needs it.
    if (isFirst) void this.#thread.load(program, bundle);
    const run = { kind: "run", session, program, feeds } as const;
    return this.#thread.ask(isFirst ? { ...run, opening } : run, ranOf);
  }
}

const refused = (problem: Extract<Loaded, { ok: false }>["problem"]): Loaded => ({
  ok: false,
  problem,
});

const GONE = {
  deadline: "The workflow ran for too long without waiting: is there an endless loop?",
  crash: "The thread that the workflow ran in has broken.",
  lost: "The sandbox was restarted.",
} as const;

const messageOf = ({ gone, message }: Gone): string =>
  message === undefined ? GONE[gone] : `${GONE[gone]} ${message}`;

function ranOf(answer: Answer | Gone): readonly Ran[] {
  if ("ran" in answer) return answer.ran;
  const gone: Gone = "gone" in answer ? answer : { gone: "lost" };
  return [{ kind: "stopped", stop: gone.gone, message: messageOf(gone) }];
}
