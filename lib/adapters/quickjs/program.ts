/** Loaded bundles, and sessions that take and return text. */
import { createHash } from "node:crypto";
import type { Declared, LoadProblem, Opening, Stop } from "../../definition/sandbox.ts";
import { GuestThrew, type Image, Machine, Stopped } from "./machine.ts";
import { parseDeclared } from "./parse-ran.ts";
import { BUNDLE_FILE, PRELUDE } from "./prelude.ts";
import { quickjs } from "./wasm.ts";

/** A feed whose outcome is JSON text; the first of a session has none. */
export type TextFeed = Readonly<{ now: number; done: string }>;

/** What a feed led to, as JSON text that is not validated yet, or why it stopped. */
export type TextRan = string | Readonly<{ stop: Stop; message: string }>;

export type LoadedProgram = Readonly<
  { ok: true; program: Program } | { ok: false; problem: LoadProblem }
>;

/** Runs the module scope of a bundle. */
export function loadProgram(bundle: string): LoadedProgram {
  const machine = new Machine(quickjs().module);
  try {
    machine.initialize();
    machine.refill(0);
    const functions = machine.items(machine.evaluate(PRELUDE, "fermata"), 4);
    const [describe = 0, begin = 0, feed = 0, take = 0] = functions;
    machine.evaluate(bundle, BUNDLE_FILE);
    machine.drain();
    if (machine.hasReadClock) return { ok: false, problem: { message: CLOCK_IN_MODULE_SCOPE } };
    const declared = parseDeclared(machine.read(describe));
    const calls = { begin, feed, take };
    return { ok: true, program: new Program({ declared, image: machine.image(), calls }) };
  } catch (cause) {
    return { ok: false, problem: problemOf(cause) };
  }
}

const CLOCK_IN_MODULE_SCOPE =
  "The clock is read in module scope, where every instance would see the same time. Read it inside the workflow.";

function problemOf(cause: unknown): LoadProblem {
  if (cause instanceof Stopped) return { message: cause.message, stopped: cause.stop };
  const stack = cause instanceof GuestThrew ? cause.guestStack : undefined;
  const message = cause instanceof Error ? cause.message : String(cause);
  return { message, ...(stack !== undefined && { stack }) };
}

/** The functions of the prelude, which have the same addresses in every machine of a program. */
type Calls = Readonly<{ begin: number; feed: number; take: number }>;
type Prepared = Readonly<{ declared: Declared; image: Image; calls: Calls }>;

export class Program {
  readonly declared: Declared;
  readonly #calls: Calls;
  readonly #image: Image;
  readonly #idle: Machine[] = [];

  constructor({ declared, image, calls }: Prepared) {
    this.declared = declared;
    this.#image = image;
    this.#calls = calls;
  }

  open(opening: Opening): TextSession {
    return new TextSession(this.#calls, opening, {
      take: () => {
        const machine = this.#idle.pop() ?? new Machine(quickjs().module);
        machine.restore(this.#image);
        return machine;
      },
      // Memory never shrinks: a machine that has grown is not worth keeping.
      giveBack: (machine) => {
        if (this.#idle.length >= MAX_IDLE) return;
        if (machine.bytes <= this.#image.memory.byteLength) this.#idle.push(machine);
      },
    });
  }
}

/** Machines that a program keeps for its next session. */
const MAX_IDLE = 4;

type Pool = Readonly<{ take: () => Machine; giveBack: (machine: Machine) => void }>;

export class TextSession {
  readonly #calls: Calls;
  readonly #opening: Opening;
  readonly #pool: Pool;
  #machine: Machine | undefined;
  #isClosed = false;

  constructor(calls: Calls, opening: Opening, pool: Pool) {
    this.#calls = calls;
    this.#opening = opening;
    this.#pool = pool;
  }

  /** Runs the feeds in order, up to the first that stops. */
  run(feeds: readonly TextFeed[]): readonly TextRan[] {
    const all: TextRan[] = [];
    for (const feed of feeds) {
      const ran = this.#runOne(feed);
      all.push(ran);
      if (typeof ran !== "string") break;
    }
    return all;
  }

  close(): void {
    if (this.#machine) this.#pool.giveBack(this.#machine);
    this.#machine = undefined;
    this.#isClosed = true;
  }

  /** Closes it, and throws its machine away. */
  discard(): void {
    this.#machine = undefined;
    this.#isClosed = true;
  }

  #runOne(feed: TextFeed): TextRan {
    if (this.#isClosed) return CLOSED;
    try {
      return this.#feed(feed);
    } catch (cause) {
      this.discard();
      const message = cause instanceof Error ? cause.message : String(cause);
      return { stop: cause instanceof Stopped ? cause.stop : "crash", message };
    }
  }

  #feed({ now, done }: TextFeed): string {
    const { begin, feed, take } = this.#calls;
    const isFirst = this.#machine === undefined;
    const machine = this.#machine ?? this.#pool.take();
    this.#machine = machine;
    machine.refill(now);
    if (isFirst) machine.run(begin, JSON.stringify(openingOf(this.#opening)));
    else machine.run(feed, done);
    return machine.read(take);
  }
}

/** A session that was closed or has stopped. */
export const CLOSED = { stop: "crash", message: "The session is closed." } as const;

const openingOf = ({ workflow, input, seed, instance }: Opening) => ({
  workflow,
  input,
  instance,
  seed: wordsOf(seed),
});

/** Four numbers of 32 bits, as the generator in the prelude wants them: not all zero. */
function wordsOf(seed: string): readonly number[] {
  const hash = createHash("sha256").update(seed).digest();
  return [0, 4, 8, 12].map((at) => hash.readUInt32LE(at) | 0);
}
