/**
 * What a notation must provide to run on the kernel. A runner works on a draft of the instance: it
 * opens and closes tickets there, writes the trail, and finally suspends, finishes or fails it.
 *
 * 1. Pure: what it does depends on the draft and the fact alone.
 * 2. When it returns, a live instance has at least one open ticket, or it would never wake up.
 * 3. What it interrupts leaves no ticket behind.
 * 4. It throws only on unexpected failures: the kernel then drops the draft and raises an
 *    incident that keeps the fact.
 */
import type { Definition } from "../definition/definition.ts";
import type { Json, Variables } from "../definition/json.ts";
import type { Site } from "../definition/sandbox.ts";
import type { Form } from "../definition/user-task.ts";
import type { BatchItem } from "./batch.ts";
import type { Draft } from "./draft.ts";
import type { StartInput, TicketFact } from "./fact.ts";
import type { ChildTicket, Instance, TaskTicket, Ticket } from "./instance.ts";

export interface Runner {
  /** Runs a new instance up to its first waits, from the start event of the input's trigger if any. */
  start(draft: Draft, input: StartInput): Promise<void>;
  /** Takes the outcome of `ticket`, which is open; whether it closes is the runner's decision. */
  resume(draft: Draft, fact: TicketFact, ticket: Ticket): Promise<void>;
  /**
   * Sets the variables that a resolution brings, just before the kept fact is taken again, as seen
   * from the element of `ref`. It moves no token. A runner whose state must not change after the
   * fact, such as a journal that is replayed, throws a `Refusal` that says so; the incident then
   * stays, with everything it kept.
   */
  patch(draft: Draft, ref: number, variables: Variables): void;
  /**
   * Sets variables of one scope: the process, or the only open occurrence of this element. The
   * instance may continue, as with any fact: open waits, close them, or end. Throws a `Refusal`
   * where there is no such scope or several, or where `patch` would.
   */
  assign(draft: Draft, scope: string | undefined, variables: Variables): Promise<void>;
  /** No variables can ever be set: both calls above refuse all. */
  readonly isFixed?: true;
  /**
   * What an author has open, to be counted against the limit of open tickets. Absent: every ticket
   * counts. A runner that limits it in a way that authors can catch leaves out what they have not
   * asked for, such as a deadline: the limit of the kernel cannot be caught.
   */
  openCount?(draft: Draft): number;
  /** What a step has added in values of users; for the incident of an instance that is too large. */
  addedValues?(before: Instance, after: Instance): AddedValues | undefined;
  /** How many occurrences of an element are open. */
  occurrences(instance: Instance, element: string): number;
  /** The instance is ended from outside: records in the trail what is cut short. */
  terminate(draft: Draft): void;
  /** The input of a task. */
  taskInput(instance: Instance, ticket: TaskTicket): TaskInput;
  /** What messages call an item of a batch; absent: an entry of a list. */
  itemTitle?(instance: Instance, item: BatchItem): string;
  /** The input of a called process, as it was when the call was made. */
  callInput(instance: Instance, ticket: ChildTicket): Variables;
  /** What readers see of a runner's state. */
  view(instance: Instance): RunnerView;
  /**
   * Where user values stand in a state, as paths into it: these may be externalized.
   * None of them lies within another.
   */
  places(state: Json): readonly Place[];
  /** What an ended instance leaves as its result. */
  result(instance: Instance): Json;
}

export type RunnerView = Readonly<{
  variables: Variables;
  tokens: readonly TokenCount[];
  /** Of a workflow in code: its input, and where its open operations were called, by `ref`. */
  input?: Json;
  sites?: ReadonlyMap<number, Site>;
}>;

/** The largest of some values, where the operation that it belongs to was called, and the bytes of all. */
export type AddedValues = Readonly<{
  largest: Readonly<{ what: string; bytes: number; site?: Site }>;
  bytes: number;
}>;

/** How many tokens stand at an element: one for each occurrence of it that is open. */
export type TokenCount = Readonly<{ element: string; count: number }>;

/** The path to a part of a value: names and positions. */
export type Place = readonly (string | number)[];

export type TaskInput = Readonly<{
  variables: Variables;
  /** Of a workflow in code: any JSON, and so may be the result. */
  input?: Json;
  headers: Readonly<Record<string, string>>;
  /** Of a user task: variables that the completion must set. */
  needs?: readonly string[];
  /** The form that goes with it, and its text where it stands in the definition. */
  form?: Form;
  formBody?: Json;
}>;

/** A definition together with the runner that has been prepared for it. */
export type Program = Readonly<{ definition: Definition; runner: Runner }>;
