/**
 * Where the code of a workflow runs: a machine of its own, without I/O, whose clock and randomness
 * are given to it. Only JSON goes in and out.
 *
 * 1. A program is loaded once. Each session starts from it as if the bundle had just been loaded.
 * 2. A session is fed one outcome at a time: the code runs until it waits again, and what it asked
 *    for on the way comes back as operations.
 * 3. The same opening and the same feeds give the same operations, on every machine with this
 *    engine.
 * 4. A session that was stopped is of no further use: its machine is thrown away.
 */
import type { Json } from "./json.ts";

export interface Sandbox {
  /** Names the engine, its build and the version of the operations: a definition is pinned to it. */
  readonly engine: string;
  /** Runs the module scope of a bundle; what it declares, or why it cannot be used. */
  load(bundle: string): Promise<Loaded>;
  close(): Promise<void>;
}

export type Loaded = Readonly<
  { ok: true; program: GuestProgram } | { ok: false; problem: LoadProblem }
>;

/** `stack` has positions in the bundle. */
export type LoadProblem = Readonly<{ message: string; stack?: string; stopped?: Stop }>;

export interface GuestProgram {
  readonly declared: Declared;
  /** A session of one instance; nothing runs before its first feed. */
  open(opening: Opening): GuestSession;
}

/** What a bundle declares while it is loaded. */
export type Declared = Readonly<{
  workflows: readonly string[];
  /** Types of its steps. */
  steps: readonly string[];
}>;

export interface GuestSession {
  /**
   * Feeds the outcomes in order, each followed by everything that it sets in motion; the first feed
   * of a session has none and starts the workflow. The list ends with the first feed that stops.
   */
  run(feeds: readonly Feed[]): Promise<readonly Ran[]>;
  /** Gives the machine back. */
  close(): void;
}

export type Opening = Readonly<{
  workflow: string;
  /** Undefined where the workflow was started without one. */
  input: Json | undefined;
  /** What randomness is drawn from. */
  seed: string;
  /** What the code can read about its instance. */
  instance: Json;
}>;

/** The time that the code sees, and the outcome of one operation. */
export type Feed = Readonly<{ now: number; done?: Done }>;

export type Done = Readonly<{ n: number }> & Outcome;
export type Outcome = Readonly<{ value: Json } | { failure: Json }>;

/** What one feed led to. */
export type Ran = Readonly<
  | {
      kind: "ran";
      operations: readonly Operation[];
      /** The workflow has returned or thrown. */
      end?: GuestEnd;
      /** The outcome was for an operation that is not open. */
      isUnknown?: true;
    }
  | { kind: "stopped"; stop: Stop; message: string }
>;

export type GuestEnd = Readonly<{ value: Json } | { error: GuestError }>;

/** An error that a workflow threw; `stack` has positions in the bundle. */
export type GuestError = Readonly<{
  name?: string;
  message: string;
  code?: string;
  stack?: string;
}>;

/**
 * The limit that a feed ran into, or what became of its machine. `lost`: the machine is gone through
 * no fault of this code, and the same feeds may be run in another.
 */
export type Stop =
  | "fuel"
  | "jobs"
  | "operations"
  | "memory"
  | "output"
  | "deadline"
  | "crash"
  | "lost";

/** What a workflow asks for. Operations are numbered from 1 in the order in which they are opened. */
export type Operation = Readonly<
  | ({ op: "task"; type: string; input: Json; options?: CallOptions } & Opened)
  | ({ op: "timer"; after: string } & Opened)
  | ({ op: "timer"; until: number } & Opened)
  | ({ op: "event"; name: string; inbox?: true } & Opened)
  | ({ op: "signal"; name: string } & Opened)
  | ({ op: "message"; name: string; key: string } & Opened)
  | { op: "publish"; name: string; payload: Json }
  /** A wait that lost: its outcome is of no interest any more. */
  | { op: "close"; n: number }
>;

export type OpenedOperation = Extract<Operation, { at?: unknown }>;

/** `at` is where it was called, as a line and a column of the bundle. */
type Opened = Readonly<{ n: number; at?: Site }>;
export type Site = readonly [line: number, column: number];

/** A place in an author's file; line and column count from 1. */
export type Origin = Readonly<{ file: string; line: number; column: number }>;

/** Leads from places in a bundle to the author's files. */
export type Origins = Readonly<{
  originalOf(line: number, column: number): Origin | undefined;
  /** A stack with the places of the author's files. */
  stackOf(stack: string): string;
}>;

/** How a task is retried and how long all its attempts may take; durations as ISO text. */
export type CallOptions = Readonly<{ retry?: RetryTable; timeout?: string }>;

export type RetryTable = Readonly<{
  maxAttempts?: number;
  backoff?: string;
  maxBackoff?: string;
  multiplier?: number;
  /** The part of the delay that is drawn by chance, from 0 to 1. */
  jitter?: number;
  /** Error codes that are retried although an error with a code is final. */
  retryOn?: readonly string[];
  /** Error codes that are final whatever else is said. */
  nonRetryable?: readonly string[];
}>;
