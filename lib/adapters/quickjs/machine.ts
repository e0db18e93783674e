/**
 * A thin driver over one instance of QuickJS on WebAssembly.
 *
 * 1. Only text crosses the boundary, and no host function is visible inside.
 * 2. Everything a machine knows is in its memory: copying an image into it makes it another one.
 * 3. A stop leaves the code inside where it is, which cannot catch it or go on. After it the machine
 *    is of no further use.
 */
import {
  MAX_FUEL_PER_FEED,
  MAX_GUEST_BYTES,
  MAX_GUEST_OUTPUT_BYTES,
  MAX_GUEST_STACK_BYTES,
  MAX_JOBS_PER_FEED,
} from "../../definition/limits.ts";
import type { Stop } from "../../definition/sandbox.ts";
import { copyImage, imageOf, type MemoryImage } from "./image.ts";
import { GROW_IMPORT } from "./wasm.ts";
import {
  type CompiledModule,
  type GlobalNumber,
  type Imports,
  instantiate,
  type Memory,
  PAGE_BYTES,
} from "./web-assembly.ts";

/** Thrown when a feed runs into a limit, or the machine breaks. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  readonly stop: Stop;
  constructor(stop: Stop, message: string) {
    super(message);
    this.stop = stop;
  }
}

/** Thrown when code inside throws. */
export class GuestThrew extends Error {
  override readonly name = "GuestThrew";
  readonly guestStack: string | undefined;
  constructor(message: string, guestStack: string | undefined) {
    super(message);
    this.guestStack = guestStack;
  }
}

/** What a machine needs to be put back to where another one stood. */
export type Image = Readonly<{ memory: MemoryImage; stackPointer: number; places: Places }>;

/** Addresses that are the same in every machine of a program. */
type Places = Readonly<{
  runtime: number;
  context: number;
  /** The value `undefined`. */
  nothing: number;
  /** Where the argument of a call and the length of a text are put. */
  slot: number;
  /** Where short texts are put. */
  buffer: number;
}>;

/** The functions of QuickJS that the driver uses; a pointer is an address in the memory. */
type Exports = Readonly<{
  memory: Memory;
  __stack_pointer: GlobalNumber;
  _initialize(): void;
  qjs_init2(intrinsics: number): number;
  qjs_set_max_stack_size(bytes: number): void;
  qjs_set_interrupt_handler(on: number): void;
  qjs_eval(code: number, length: number, file: number, flags: number): number;
  qjs_call(fn: number, self: number, count: number, args: number): number;
  qjs_get_prop_uint32(of: number, at: number): number;
  qjs_get_prop_string(of: number, name: number): number;
  qjs_new_string(text: number, length: number): number;
  qjs_get_string_len(value: number, length: number): number;
  qjs_free_cstring(text: number): void;
  qjs_is_exception(value: number): number;
  qjs_is_string(value: number): number;
  qjs_get_exception(): number;
  qjs_get_undefined(): number;
  qjs_free_value(value: number): void;
  qjs_execute_pending_job(): number;
  qjs_get_runtime_ptr(): number;
  qjs_get_context_ptr(): number;
  qjs_set_runtime_and_context(runtime: number, context: number): void;
  wasm_malloc(bytes: number): number;
  wasm_free(at: number): void;
}>;

/** All but WeakRef (512) and performance (1,024): both would show what the host is doing. */
const INTRINSICS = 0b1_1001_1111_1111;

/**
 * The stack lies in front of everything else, and a guest reaches this far down in it. Below that
 * nothing was written, so that nothing has to be cleared.
 */
const DIRTY_STACK_BYTES = MAX_GUEST_STACK_BYTES + 65_536;

/** Bytes of a text that is put where all short texts are put. */
const BUFFER_BYTES = 16_384;

const encoder = new TextEncoder();

export class Machine {
  readonly #exports: Exports;
  /** The memory, and the same as numbers: new views whenever it has grown. */
  #memory: Buffer;
  #numbers: Uint32Array;
  #places: Places = { runtime: 0, context: 0, nothing: 0, slot: 0, buffer: 0 };
  #isNew = true;
  /** Milliseconds that the code sees as the time. */
  #now = 0;
  #fuel = 0;
  #clockReads = 0;

  /** An empty machine: it is initialized, or an image is copied into it. */
  constructor(module: CompiledModule) {
    this.#exports = instantiate(module, this.#imports()) as Exports;
    this.#memory = Buffer.from(this.#exports.memory.buffer);
    this.#numbers = new Uint32Array(this.#exports.memory.buffer);
    this.#exports._initialize();
  }

  /** Starts an engine without any code. */
  initialize(): void {
    this.#isNew = false;
    const { qjs_init2, qjs_get_runtime_ptr, qjs_get_context_ptr, wasm_malloc } = this.#exports;
    if (qjs_init2(INTRINSICS) !== 0) {
      throw new Stopped("crash", "QuickJS could not be initialized.");
    }
    this.#exports.qjs_set_max_stack_size(MAX_GUEST_STACK_BYTES);
    this.#exports.qjs_set_interrupt_handler(1);
    this.#places = {
      runtime: qjs_get_runtime_ptr(),
      context: qjs_get_context_ptr(),
      nothing: this.#exports.qjs_get_undefined(),
      slot: wasm_malloc(8),
      buffer: wasm_malloc(BUFFER_BYTES),
    };
    this.#clockReads = 0;
  }

  /** Says whether code has read the clock since the machine was initialized. */
  get hasReadClock(): boolean {
    return this.#clockReads > 0;
  }

  get bytes(): number {
    return this.#memory.byteLength;
  }

  image(): Image {
    return {
      memory: imageOf(this.#memory),
      stackPointer: this.#exports.__stack_pointer.value,
      places: this.#places,
    };
  }

  /** Makes the machine what the image shows; it must not have grown beyond that. */
  restore({ memory, stackPointer, places }: Image): void {
    const missing = (memory.byteLength - this.bytes) / PAGE_BYTES;
    if (missing > 0) this.#grow(missing);
    const from = Math.max(0, stackPointer - DIRTY_STACK_BYTES);
    copyImage(memory, { memory: this.#memory, isNew: this.#isNew, from });
    this.#isNew = false;
    this.#exports.qjs_set_runtime_and_context(places.runtime, places.context);
    this.#exports.__stack_pointer.value = stackPointer;
    this.#places = places;
  }

  /** Evaluates a script and returns its value. */
  evaluate(code: string, file: string): number {
    this.#fuel = MAX_FUEL_PER_FEED;
    return this.#guarded(() => {
      const text = this.#write(code);
      const name = this.#write(file);
      const value = this.#exports.qjs_eval(text.at, text.length, name.at, 0);
      this.#exports.wasm_free(text.at);
      this.#exports.wasm_free(name.at);
      return this.#checked(value);
    });
  }

  /** The items of a list, as values that stay valid in every image of this machine. */
  items(list: number, count: number): readonly number[] {
    return Array.from({ length: count }, (_, at) => this.#exports.qjs_get_prop_uint32(list, at));
  }

  /** New time and new budgets. */
  refill(now: number): void {
    this.#now = now;
    this.#fuel = MAX_FUEL_PER_FEED;
  }

  /** Calls a function without arguments and reads the text that it returns. */
  read(fn: number): string {
    return this.#guarded(() => {
      const value = this.#checked(this.#exports.qjs_call(fn, this.#places.nothing, 0, 0));
      const text = this.#textOf(value) ?? "";
      this.#exports.qjs_free_value(value);
      return text;
    });
  }

  /** Calls a function with a text, and runs everything that is ready to run then. */
  run(fn: number, argument: string): void {
    this.#guarded(() => {
      const { slot, nothing } = this.#places;
      const text = this.#newText(argument);
      this.#numbers[slot >> 2] = text;
      const value = this.#checked(this.#exports.qjs_call(fn, nothing, 1, slot));
      this.#exports.qjs_free_value(text);
      this.#exports.qjs_free_value(value);
      this.#drain();
    });
  }

  /** Runs everything that is ready to run. */
  drain(): void {
    this.#guarded(() => this.#drain());
  }

  #drain(): void {
    for (let jobs = 0; ; jobs++) {
      const ran = this.#exports.qjs_execute_pending_job();
      if (ran === 0) return;
      if (ran < 0) this.#throwPending();
      if (jobs >= MAX_JOBS_PER_FEED) {
        throw new Stopped("jobs", `A step may run ${MAX_JOBS_PER_FEED} promise jobs.`);
      }
    }
  }

  #checked(value: number): number {
    if (this.#exports.qjs_is_exception(value) !== 0) this.#throwPending();
    return value;
  }

  #throwPending(): never {
    const error = this.#exports.qjs_get_exception();
    const message = this.#property(error, "message") ?? this.#textOf(error);
    const stack = this.#property(error, "stack");
    throw new GuestThrew(message ?? "The bundle threw a value that has no text.", stack);
  }

  #property(value: number, name: string): string | undefined {
    const { at } = this.#write(name);
    const found = this.#exports.qjs_get_prop_string(value, at);
    this.#exports.wasm_free(at);
    return this.#textOf(found);
  }

  /** What breaks inside WebAssembly leaves the machine in an unknown state. */
  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (cause instanceof Stopped || cause instanceof GuestThrew) throw cause;
      if (cause instanceof RangeError) throw tooDeep();
      throw new Stopped("crash", `The sandbox broke: ${String(cause)}.`);
    }
  }

  /** A value that is this text. */
  #newText(text: string): number {
    const { buffer } = this.#places;
    // A character has at most three bytes.
    if (text.length * 3 < BUFFER_BYTES) {
      return this.#exports.qjs_new_string(buffer, this.#memory.write(text, buffer));
    }
    const { at, length } = this.#write(text);
    const value = this.#exports.qjs_new_string(at, length);
    this.#exports.wasm_free(at);
    return value;
  }

  #write(text: string): { at: number; length: number } {
    const bytes = encoder.encode(text);
    const at = this.#exports.wasm_malloc(bytes.length + 1);
    this.#memory.set(bytes, at);
    this.#memory[at + bytes.length] = 0;
    return { at, length: bytes.length };
  }

  #textOf(value: number): string | undefined {
    if (this.#exports.qjs_is_string(value) === 0) return undefined;
    const { slot } = this.#places;
    const at = this.#exports.qjs_get_string_len(value, slot);
    const length = this.#numbers[slot >> 2] ?? 0;
    if (length > MAX_GUEST_OUTPUT_BYTES) throw tooMuch(length);
    const text = this.#memory.toString("utf8", at, at + length);
    this.#exports.qjs_free_cstring(at);
    return text;
  }

  /** Code inside cannot catch what is thrown here: it does not run any further. */
  #grow(pages: number): number {
    if (this.bytes + pages * PAGE_BYTES > MAX_GUEST_BYTES) throw outOfMemory();
    const before = this.#exports.memory.grow(pages);
    this.#memory = Buffer.from(this.#exports.memory.buffer);
    this.#numbers = new Uint32Array(this.#exports.memory.buffer);
    return before;
  }

  /** What QuickJS asks of its host: the time, memory, and whether it may go on. It writes nowhere. */
  #imports(): Imports {
    return {
      env: {
        host_get_timezone_offset: () => 0,
        host_interrupt: () => {
          this.#fuel -= 1;
          if (this.#fuel < 0) throw outOfFuel();
          return 0;
        },
        host_promise_rejection: () => {},
        host_module_normalize: () => 0,
        host_module_load: () => 0,
        host_call: () => 0,
      },
      wasi_snapshot_preview1: {
        clock_time_get: (_clock: number, _precision: bigint, at: number) => {
          this.#clockReads += 1;
          this.#memory.writeBigInt64LE(BigInt(this.#now) * 1_000_000n, at);
          return 0;
        },
        random_get: (at: number, length: number) => {
          this.#memory.fill(7, at, at + length);
          return 0;
        },
        [GROW_IMPORT.name]: (pages: number) => this.#grow(pages),
        fd_write: () => NOT_SUPPORTED,
        fd_fdstat_get: () => NOT_SUPPORTED,
        fd_seek: () => NOT_SUPPORTED,
      },
    };
  }
}

const NOT_SUPPORTED = 52;

const outOfFuel = (): Stopped =>
  new Stopped("fuel", "The workflow ran for too long without waiting: is there an endless loop?");
const outOfMemory = (): Stopped =>
  new Stopped(
    "memory",
    `The workflow needs more than ${MAX_GUEST_BYTES / 1_048_576} MB of memory.`,
  );
/** The host's own stack, which QuickJS cannot see, was used up first. */
const tooDeep = (): Stopped =>
  new Stopped("memory", "The workflow's calls or values are nested too deeply.");
const tooMuch = (length: number): Stopped =>
  new Stopped(
    "output",
    `What a step asks for and returns takes ${length} bytes as JSON, ${MAX_GUEST_OUTPUT_BYTES} is the limit. Keep large values elsewhere and pass references.`,
  );
