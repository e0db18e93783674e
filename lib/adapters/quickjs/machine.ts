/**
 * A thin driver over one instance of QuickJS on WebAssembly.
 *
 * 1. Only text crosses the boundary, and no host function is visible inside.
 * 2. Everything a machine knows is in its memory: copying an image into it makes it another one.
 * 3. After a stop the machine is of no further use.
 */
import {
  MAX_FUEL_PER_FEED,
  MAX_GUEST_BYTES,
  MAX_GUEST_OUTPUT_BYTES,
  MAX_GUEST_STACK_BYTES,
  MAX_JOBS_PER_FEED,
} from "../../definition/limits.ts";
import type { Stop } from "../../definition/sandbox.ts";
import {
  type CompiledModule,
  type GlobalNumber,
  type Imports,
  instantiate,
  type Memory,
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
export type Image = Readonly<{
  memory: Uint8Array;
  stackPointer: number;
  runtime: number;
  context: number;
  /** The value `undefined`. */
  nothing: number;
}>;

/** The functions of QuickJS that the driver uses; a pointer is an address in the memory. */
type Exports = Readonly<{
  memory: Memory;
  __stack_pointer: GlobalNumber;
  _initialize(): void;
  qjs_init2(intrinsics: number): number;
  qjs_set_memory_limit(bytes: number): void;
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
  qjs_is_job_pending(): number;
  qjs_execute_pending_job(): number;
  qjs_get_runtime_ptr(): number;
  qjs_get_context_ptr(): number;
  qjs_set_runtime_and_context(runtime: number, context: number): void;
  wasm_malloc(bytes: number): number;
  wasm_free(at: number): void;
}>;

/** All but WeakRef (512) and performance (1,024): both would show what the host is doing. */
const INTRINSICS = 0b1_1001_1111_1111;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Machine {
  readonly #exports: Exports;
  /** Milliseconds that the code sees as the time. */
  #now = 0;
  #fuel = 0;
  #clockReads = 0;
  #nothing = 0;

  /** An empty machine: it is initialized, or an image is copied into it. */
  constructor(module: CompiledModule) {
    this.#exports = instantiate(module, this.#imports()) as Exports;
    this.#exports._initialize();
  }

  /** Starts an engine without any code. */
  initialize(): void {
    if (this.#exports.qjs_init2(INTRINSICS) !== 0) {
      throw new Stopped("crash", "QuickJS could not be initialized.");
    }
    this.#applyLimits();
    this.#nothing = this.#exports.qjs_get_undefined();
    this.#clockReads = 0;
  }

  /** Says whether code has read the clock since the machine was initialized. */
  get hasReadClock(): boolean {
    return this.#clockReads > 0;
  }

  get bytes(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  image(): Image {
    return {
      memory: new Uint8Array(this.#exports.memory.buffer).slice(),
      stackPointer: this.#exports.__stack_pointer.value,
      runtime: this.#exports.qjs_get_runtime_ptr(),
      context: this.#exports.qjs_get_context_ptr(),
      nothing: this.#nothing,
    };
  }

  /** Makes the machine what the image shows; it must not have grown beyond that. */
  restore({ memory, stackPointer, runtime, context, nothing }: Image): void {
    const missing = (memory.byteLength - this.bytes) / 65_536;
    if (missing > 0) this.#exports.memory.grow(missing);
    new Uint8Array(this.#exports.memory.buffer).set(memory);
    this.#exports.qjs_set_runtime_and_context(runtime, context);
    this.#exports.__stack_pointer.value = stackPointer;
    this.#nothing = nothing;
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

  /** Calls a function with one text; a text that it returns is read. */
  call(fn: number, argument?: string): string {
    return this.#guarded(() => {
      const value =
        argument === undefined ? this.#callWith(fn, 0, 0) : this.#callWithText(fn, argument);
      const text = this.#exports.qjs_is_string(value) === 0 ? "" : this.#read(value);
      this.#exports.qjs_free_value(value);
      return text;
    });
  }

  /** Runs everything that is ready to run. */
  drain(): void {
    this.#guarded(() => {
      for (let jobs = 0; this.#exports.qjs_is_job_pending() !== 0; jobs++) {
        if (jobs >= MAX_JOBS_PER_FEED) {
          throw new Stopped("jobs", `A step may run ${MAX_JOBS_PER_FEED} promise jobs.`);
        }
        if (this.#exports.qjs_execute_pending_job() < 0) this.#throwPending();
      }
    });
  }

  #callWithText(fn: number, argument: string): number {
    const { at, length } = this.#write(argument);
    const text = this.#exports.qjs_new_string(at, length);
    this.#exports.wasm_free(at);
    const list = this.#exports.wasm_malloc(4);
    if (list === 0) throw outOfMemory();
    new DataView(this.#exports.memory.buffer).setUint32(list, text, true);
    const value = this.#callWith(fn, 1, list);
    this.#exports.wasm_free(list);
    this.#exports.qjs_free_value(text);
    return value;
  }

  #callWith(fn: number, count: number, args: number): number {
    return this.#checked(this.#exports.qjs_call(fn, this.#nothing, count, args));
  }

  #checked(value: number): number {
    if (this.#exports.qjs_is_exception(value) !== 0) this.#throwPending();
    return value;
  }

  #throwPending(): never {
    const error = this.#exports.qjs_get_exception();
    if (this.#fuel < 0) throw outOfFuel();
    const message = this.#property(error, "message") ?? this.#textOf(error);
    const stack = this.#property(error, "stack");
    if (message === "out of memory") throw outOfMemory();
    throw new GuestThrew(message ?? "The bundle threw a value that has no text.", stack);
  }

  #property(value: number, name: string): string | undefined {
    const { at } = this.#write(name);
    const found = this.#exports.qjs_get_prop_string(value, at);
    this.#exports.wasm_free(at);
    return this.#exports.qjs_is_string(found) === 0 ? undefined : this.#read(found);
  }

  #textOf(value: number): string | undefined {
    return this.#exports.qjs_is_string(value) === 0 ? undefined : this.#read(value);
  }

  /** What breaks inside WebAssembly leaves the machine in an unknown state. */
  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (cause instanceof Stopped || cause instanceof GuestThrew) throw cause;
      if (cause instanceof RangeError) throw outOfMemory();
      throw new Stopped("crash", `The sandbox broke: ${String(cause)}.`);
    }
  }

  #write(text: string): { at: number; length: number } {
    const bytes = encoder.encode(text);
    const at = this.#exports.wasm_malloc(bytes.length + 1);
    if (at === 0) throw outOfMemory();
    const memory = new Uint8Array(this.#exports.memory.buffer);
    memory.set(bytes, at);
    memory[at + bytes.length] = 0;
    return { at, length: bytes.length };
  }

  #read(value: number): string {
    const size = this.#exports.wasm_malloc(4);
    if (size === 0) throw outOfMemory();
    const at = this.#exports.qjs_get_string_len(value, size);
    if (at === 0) throw outOfMemory();
    const length = new DataView(this.#exports.memory.buffer).getUint32(size, true);
    if (length > MAX_GUEST_OUTPUT_BYTES) throw tooMuch(length);
    const text = decoder.decode(new Uint8Array(this.#exports.memory.buffer, at, length));
    this.#exports.qjs_free_cstring(at);
    this.#exports.wasm_free(size);
    return text;
  }

  #applyLimits(): void {
    this.#exports.qjs_set_memory_limit(MAX_GUEST_BYTES);
    this.#exports.qjs_set_max_stack_size(MAX_GUEST_STACK_BYTES);
    this.#exports.qjs_set_interrupt_handler(1);
  }

  /** What QuickJS asks of its host: the time, and whether it may go on. It writes nowhere. */
  #imports(): Imports {
    return {
      env: {
        host_get_timezone_offset: () => 0,
        host_interrupt: () => (--this.#fuel < 0 ? 1 : 0),
        host_promise_rejection: () => {},
        host_module_normalize: () => 0,
        host_module_load: () => 0,
        host_call: () => 0,
      },
      wasi_snapshot_preview1: {
        clock_time_get: (_clock: number, _precision: bigint, at: number) => {
          this.#clockReads += 1;
          const view = new DataView(this.#exports.memory.buffer);
          view.setBigUint64(at, BigInt(this.#now) * 1_000_000n, true);
          return 0;
        },
        random_get: (at: number, length: number) => {
          new Uint8Array(this.#exports.memory.buffer, at, length).fill(7);
          return 0;
        },
        fd_write: () => NOT_SUPPORTED,
        fd_close: () => NOT_SUPPORTED,
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
const tooMuch = (length: number): Stopped =>
  new Stopped(
    "output",
    `The inputs of a step's operations take ${length} bytes, ${MAX_GUEST_OUTPUT_BYTES} is the limit.`,
  );
