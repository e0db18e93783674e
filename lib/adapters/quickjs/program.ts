/** Loaded bundles, and their sessions. */
import { hash } from "node:crypto";
import type { Declared, Feed, LoadProblem, Opening, Ran } from "../../definition/sandbox.ts";
import { CheckedNumbers } from "./checked-numbers.ts";
import { GuestThrew, type Image, Machine, Stopped } from "./machine.ts";
import { MachinePool } from "./machine-pool.ts";
import { parseDeclared, parseRan } from "./parse-ran.ts";
import { BUNDLE_FILE, PRELUDE } from "./prelude.ts";
import { quickjs } from "./wasm.ts";

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
  readonly #prepared: Prepared;

  constructor(prepared: Prepared) {
    this.declared = prepared.declared;
    this.#prepared = prepared;
  }

  open(opening: Opening): ProgramSession {
    return new ProgramSession(this.#prepared, opening);
  }
}

/** A feed whose outcome is JSON text already, as the machine takes it. */
export type FeedText = Readonly<{ now: number; done?: string }>;

/** An outcome for no operation. */
const NOTHING = "{}";

export const feedText = ({ now, done }: Feed): FeedText =>
  done === undefined ? { now } : { now, done: JSON.stringify(done) };

const pool = new MachinePool();

/** Does a little of what later sessions would begin with; false when nothing is left to do. */
export const prepareAhead = (): boolean => pool.prepareOne();

export class ProgramSession {
  readonly #prepared: Prepared;
  readonly #opening: Opening;
  readonly #numbers = new CheckedNumbers();
  #machine: Machine | undefined;
  #isClosed = false;

  constructor(prepared: Prepared, opening: Opening) {
    this.#prepared = prepared;
    this.#opening = opening;
  }

  /** Runs the feeds in order, up to the first that stops; calls `beforeEach` on the way. */
  run(feeds: readonly FeedText[], beforeEach: () => void = () => {}): readonly Ran[] {
    const all: Ran[] = [];
    for (const feed of feeds) {
      beforeEach();
      const ran = this.#runOne(feed);
      all.push(ran);
      if (ran.kind === "stopped") break;
    }
    return all;
  }

  close(): void {
    if (this.#machine) pool.giveBack(this.#machine, this.#prepared.image);
    this.#end();
  }

  #runOne(feed: FeedText): Ran {
    if (this.#isClosed) return CLOSED;
    try {
      return this.#numbers.checked(parseRan(this.#feed(feed)));
    } catch (cause) {
      // Whatever it was, the machine is of no further use.
      this.#end();
      const message = cause instanceof Error ? cause.message : String(cause);
      return { kind: "stopped", stop: cause instanceof Stopped ? cause.stop : "crash", message };
    }
  }

  #feed({ now, done }: FeedText): string {
    const { image, calls } = this.#prepared;
    const isFirst = this.#machine === undefined;
    const machine = this.#machine ?? pool.take(image);
    this.#machine = machine;
    machine.refill(now);
    if (isFirst) machine.run(calls.begin, JSON.stringify(openingOf(this.#opening)));
    else machine.run(calls.feed, done ?? NOTHING);
    return machine.read(calls.take);
  }

  #end(): void {
    this.#machine = undefined;
    this.#isClosed = true;
  }
}

/** A session that was closed or has stopped. */
export const CLOSED: Ran = { kind: "stopped", stop: "crash", message: "The session is closed." };

const openingOf = ({ workflow, input, seed, instance }: Opening) => ({
  workflow,
  input,
  instance,
  seed: wordsOf(seed),
});

/** Four numbers of 32 bits, as the generator in the prelude wants them: not all zero. */
function wordsOf(seed: string): readonly number[] {
  const digest = hash("sha256", seed, "buffer");
  return [0, 4, 8, 12].map((at) => digest.readUInt32LE(at) | 0);
}
