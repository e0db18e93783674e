/**
 * The host's end of the link to the thread that guests run in.
 *
 * 1. While the thread owes answers, the host looks for them in every turn of its event loop; after a
 *    moment without any it asks for a message instead. So neither side has to wake the other for each
 *    text, which would take longer than most feeds.
 * 2. Who is about to wait says so first, and looks once more then: nothing that is written meanwhile is
 *    missed.
 * 3. What finds no room waits here, in order, until the thread has read something.
 */
import { MessageChannel, receiveMessageOnPort, type Worker } from "node:worker_threads";
import { TextRing } from "./text-ring.ts";
import { FLAG, FLAGS_BYTES, THREAD, type ThreadMemory } from "./thread-memory.ts";

/** How long the host looks for answers before it asks for a message. */
const LOOK_MS = 0.3;

export type LinkOptions = Readonly<{
  /** Starts the thread. */
  start: (memory: ThreadMemory) => Worker;
  onText: (text: string) => void;
  /** Whether the thread owes an answer. */
  isOwed: () => boolean;
}>;

export class ThreadLink {
  readonly worker: Worker;
  readonly #options: LinkOptions;
  readonly #requests = new TextRing();
  readonly #answers = new TextRing();
  readonly #flags = new Int32Array(new SharedArrayBuffer(FLAGS_BYTES));
  readonly #large = new MessageChannel();
  readonly #waiting: string[] = [];
  #looking: NodeJS.Immediate | undefined;
  #hasEnded = false;
  /** When a text was last sent or read. */
  #lastAt = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.worker = options.start({
      requests: this.#requests.memory,
      answers: this.#answers.memory,
      flags: this.#flags.buffer,
      large: this.#large.port2,
    });
    this.worker.on("message", () => {
      this.#lastAt = performance.now();
      this.#look();
    });
    this.worker.unref();
  }

  /** The number of the request that the thread is serving; 0 for none. */
  get current(): number {
    return Atomics.load(this.#flags, FLAG.current);
  }

  /** How many feeds the thread has begun. */
  get fed(): number {
    return Atomics.load(this.#flags, FLAG.fed);
  }

  send(text: string): void {
    this.#waiting.push(text);
    this.#write();
    this.#lastAt = performance.now();
    this.#lookSoon();
  }

  /** Hands over the answers that are there; false when there is none. */
  deliver(): boolean {
    if (!this.#answers.hasText) return false;
    for (let text = this.#read(); text !== undefined; text = this.#read()) {
      this.#options.onText(text);
    }
    return true;
  }

  /** Ends the thread, and hands over what it had answered by then. Nothing may be sent any more. */
  async end(): Promise<void> {
    clearImmediate(this.#looking);
    this.#hasEnded = true;
    this.#waiting.length = 0;
    // This keeps the process alive, so from here on nothing may release it.
    await this.worker.terminate();
    this.deliver();
    this.#large.port1.close();
  }

  #read(): string | undefined {
    return this.#answers.read(() => receiveMessageOnPort(this.#large.port1)?.message);
  }

  /** Writes what waits, as far as there is room, and wakes the thread if it does not see that. */
  #write(): void {
    let text = this.#waiting[0];
    while (text !== undefined && this.#requests.write(text, this.#sendLarge)) {
      this.#waiting.shift();
      text = this.#waiting[0];
    }
    const thread = Atomics.load(this.#flags, FLAG.thread);
    if (thread === THREAD.napping) this.#requests.wakeReader();
    else if (thread === THREAD.idle) this.#wakeIdle();
  }

  #wakeIdle(): void {
    const { idle, atWork } = THREAD;
    const was = Atomics.compareExchange(this.#flags, FLAG.thread, idle, atWork);
    if (was === idle) this.worker.postMessage(null);
  }

  readonly #sendLarge = (text: string): void => this.#large.port1.postMessage(text);

  #lookSoon(): void {
    this.#looking ??= setImmediate(() => this.#look());
  }

  #look(): void {
    clearImmediate(this.#looking);
    this.#looking = undefined;
    if (this.#hasEnded) return;
    if (this.#waiting.length > 0) this.#write();
    if (this.deliver()) this.#lastAt = performance.now();
    if (!this.#isNeeded()) this.worker.unref();
    else if (performance.now() - this.#lastAt < LOOK_MS || this.#listen()) this.#lookSoon();
  }

  #isNeeded(): boolean {
    return this.#options.isOwed() || this.#waiting.length > 0;
  }

  /** Asks for messages; true when there were answers after all. */
  #listen(): boolean {
    this.worker.ref();
    Atomics.store(this.#flags, FLAG.hostListens, 1);
    if (this.#waiting.length > 0) {
      Atomics.store(this.#flags, FLAG.hostHasMore, 1);
      this.#write();
    }
    return this.deliver();
  }
}
