import type { Graph, TimerSpec } from "./graph.ts";

/** One immutable version of a process. `hash` names its content, `body` is what its runner runs. */
export type Definition = Readonly<{
  id: string;
  version: number;
  hash: string;
  notation: Notation;
  name?: string;
  /** The author's name of this version. */
  versionTag?: string;
  body: Body;
  /** Every id that history may name, in a fixed order: stored state refers to them by position. */
  elements: readonly string[];
  startEvents: readonly StartEvent[];
  /** What an error does that nothing catches: it ends the instance; absent: it raises an incident. */
  onUncaught?: "fail";
  deadline?: Deadline;
}>;

/** How long an instance may take, as an ISO duration, and what it fails with when that is over. */
export type Deadline = Readonly<{ after: string; code?: string; reason?: string }>;

export type Notation = "bpmn" | "journey" | "code";

/** `runner` says who runs it. A graph is shared by the drawn notations; others bring their own. */
export type Body =
  | Readonly<{ runner: "graph"; graph: Graph }>
  | Readonly<{ runner: "code"; program: CodeBody }>;

/** A workflow of a bundle, and the sandbox that it is pinned to. */
export type CodeBody = Readonly<{ workflow: string; engine: string }>;

/**
 * How instances start: by a call, by a broadcast signal or a message of this name, or by a timer.
 * The value of a timer reads no variables: there is no instance yet that could have any.
 */
export type StartEvent = Readonly<
  | { element: string; kind: "none" }
  | { element: string; kind: "signal" | "message"; name: string }
  | { element: string; kind: "timer"; timer: TimerSpec }
>;

/** What a front end makes of one process in a source text; storing it gives it a version. */
export type Compiled = Readonly<Omit<Definition, "version" | "hash">>;
