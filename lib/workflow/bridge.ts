/**
 * What the engine offers to a bundle inside the sandbox. On the host there is none: there a file of
 * workflows is imported for its steps and its types.
 */
export type Bridge = Readonly<{
  protocol: number;
  workflow(id: string, run: (input: unknown) => Promise<string>): void;
  step(type: string): void;
  open(
    op: string,
    fields: string,
    settle: (outcome: GuestOutcome) => void,
    caller: (...args: never) => unknown,
  ): number;
  close(n: number): boolean;
  /** Disarms an operation and rejects it. */
  cancel(n: number, why: Error): void;
  /** The open operations of a scope, without those of the branches that `but` belongs to. */
  openIn(scope: number, but: readonly number[]): readonly number[];
  /** The scope of what the code does next. */
  here(): number;
  /** Makes a scope the one of what the code does next. */
  enter(scope: number): void;
  scoped<T>(within: () => T): Readonly<{ value: T; scope: number }>;
  publish(fields: string): void;
  random(): number;
  uuid(): string;
  about(): InstanceFacts;
}>;

/** The outcome of an operation, as the engine feeds it. */
export type GuestOutcome = Readonly<{
  value?: unknown;
  failure?: Failure;
  /** Set when the operation was disarmed with its scope. */
  cancelled?: Error;
  /** Where the operation was called. */
  stack?: string;
}>;
export type Failure = Readonly<{
  name: string;
  message: string;
  code?: string;
  type?: string;
  attempts?: number;
}>;

/** What a workflow can read about its instance. */
export type InstanceFacts = Readonly<{
  id: string;
  businessKey?: string | undefined;
  definition: Readonly<{ id: string; version: number }>;
  startedAt: string;
}>;

/** The bridge of this sandbox; undefined on the host. */
export const found = (globalThis as { readonly __fermata?: Bridge }).__fermata;

/** The bridge, for what works inside a workflow only. */
export function bridge(what: string): Bridge {
  if (found) return found;
  throw new Error(
    `${what} works inside a workflow only. Start the workflow with engine.start or "fermata start"; its code runs in the engine.`,
  );
}
