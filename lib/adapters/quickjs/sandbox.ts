/** The sandbox in the thread that calls it. */
import { createHash } from "node:crypto";
import { MAX_OPERATIONS_PER_FEED } from "../../definition/limits.ts";
import type {
  Declared,
  Feed,
  GuestProgram,
  GuestSession,
  Loaded,
  Opening,
  Ran,
  Sandbox,
} from "../../definition/sandbox.ts";
import { GuestThrew, type Image, Machine, Stopped } from "./machine.ts";
import { parseDeclared, parseRan } from "./parse-ran.ts";
import { PRELUDE } from "./prelude.ts";
import { quickjs } from "./wasm.ts";
import type { CompiledModule } from "./web-assembly.ts";

/** A sandbox that runs guests where it is called: nothing can stop a guest that does not poll. */
export function quickjsSandbox(): Sandbox {
  return {
    get engine() {
      return quickjs().name;
    },
    load: async (bundle) => load(quickjs().module, bundle),
    close: async () => {},
  };
}

/** The functions of the prelude, which have the same addresses in every machine of a program. */
type Calls = Readonly<{ begin: number; feed: number; take: number }>;

function load(module: CompiledModule, bundle: string): Loaded {
  const machine = new Machine(module);
  try {
    machine.initialize();
    machine.refill(0);
    const [describe = 0, begin = 0, feed = 0, take = 0] = machine.items(
      machine.evaluate(PRELUDE, "fermata"),
      4,
    );
    machine.evaluate(bundle, BUNDLE_FILE);
    machine.drain();
    if (machine.hasReadClock) return { ok: false, problem: { message: CLOCK_IN_MODULE_SCOPE } };
    const declared = parseDeclared(machine.call(describe));
    const image = machine.image();
    return { ok: true, program: new Program(module, { declared, image, begin, feed, take }) };
  } catch (cause) {
    return { ok: false, problem: problemOf(cause) };
  }
}

/** The name of the bundle in stacks. */
export const BUNDLE_FILE = "workflow.js";

const CLOCK_IN_MODULE_SCOPE =
  "The clock is read in module scope, where every instance would see the same time. Read it inside the workflow.";

function problemOf(cause: unknown): Extract<Loaded, { ok: false }>["problem"] {
  if (cause instanceof Stopped) return { message: cause.message, stopped: cause.stop };
  const stack = cause instanceof GuestThrew ? cause.guestStack : undefined;
  const message = cause instanceof Error ? cause.message : String(cause);
  return { message, ...(stack !== undefined && { stack }) };
}

type Prepared = Readonly<{ declared: Declared; image: Image }> & Calls;

class Program implements GuestProgram {
  readonly declared: Declared;
  readonly #module: CompiledModule;
  readonly #prepared: Prepared;
  readonly #idle: Machine[] = [];

  constructor(module: CompiledModule, prepared: Prepared) {
    this.#module = module;
    this.#prepared = prepared;
    this.declared = prepared.declared;
  }

  open(opening: Opening): GuestSession {
    const { image } = this.#prepared;
    return new Session(this.#prepared, opening, {
      take: () => {
        const machine = this.#idle.pop() ?? new Machine(this.#module);
        machine.restore(image);
        return machine;
      },
      // Memory never shrinks: a machine that has grown is not worth keeping.
      giveBack: (machine) => {
        if (this.#idle.length < MAX_IDLE && machine.bytes <= image.memory.byteLength) {
          this.#idle.push(machine);
        }
      },
    });
  }
}

/** Machines that a program keeps for its next session. */
const MAX_IDLE = 4;

type Pool = Readonly<{ take: () => Machine; giveBack: (machine: Machine) => void }>;

class Session implements GuestSession {
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

  async run(feeds: readonly Feed[]): Promise<readonly Ran[]> {
    return this.runNow(feeds);
  }

  runNow(feeds: readonly Feed[]): readonly Ran[] {
    const all: Ran[] = [];
    for (const feed of feeds) {
      const ran = this.#runOne(feed);
      all.push(ran);
      if (ran.kind === "stopped") break;
    }
    return all;
  }

  close(): void {
    if (this.#machine) this.#pool.giveBack(this.#machine);
    this.#machine = undefined;
    this.#isClosed = true;
  }

  #runOne(feed: Feed): Ran {
    if (this.#isClosed)
      return { kind: "stopped", stop: "crash", message: "The session is closed." };
    try {
      return this.#feed(feed);
    } catch (cause) {
      this.#machine = undefined;
      this.#isClosed = true;
      const message = cause instanceof Error ? cause.message : String(cause);
      return { kind: "stopped", stop: cause instanceof Stopped ? cause.stop : "crash", message };
    }
  }

  #feed({ now, done }: Feed): Ran {
    const { begin, feed, take } = this.#calls;
    const isFirst = this.#machine === undefined;
    const machine = this.#machine ?? this.#pool.take();
    this.#machine = machine;
    machine.refill(now);
    const answer = isFirst
      ? machine.call(begin, JSON.stringify(openingOf(this.#opening)))
      : machine.call(feed, JSON.stringify(done));
    machine.drain();
    const ran = parseRan(machine.call(take));
    if (ran.operations.length > MAX_OPERATIONS_PER_FEED) {
      const message = `A step may ask for ${MAX_OPERATIONS_PER_FEED} operations.`;
      throw new Stopped("operations", message);
    }
    return answer === "unknown" ? { ...ran, isUnknown: true } : ran;
  }
}

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
