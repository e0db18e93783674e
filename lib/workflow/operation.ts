/** Opening operations, and disarming what lost. */
import { bridge } from "./bridge.ts";
import { CancelledFailure, errorOf } from "./errors.ts";

/** Functions of the SDK that open operations: a stack begins with the caller of one of them. */
export type Caller = (...args: never) => unknown;

/** How to disarm what a promise of the SDK stands for: an operation, or everything in a composite. */
const disarms = new WeakMap<object, () => void>();

/** Opens an operation. */
export function open<T>(
  op: string,
  fields: string,
  { caller, revive }: Readonly<{ caller: Caller; revive?: (value: unknown) => T }>,
): Promise<T> {
  const host = bridge(`${caller.name || op}()`);
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const n = host.open(
    op,
    fields,
    ({ value, failure, cancelled, stack }) => {
      if (cancelled) reject(cancelled);
      else if (failure === undefined) resolve(revive ? revive(value) : (value as T));
      else reject(placed(errorOf(failure), stack));
    },
    caller,
  );
  disarms.set(promise, () => {
    if (host.close(n)) reject(lost());
  });
  return promise;
}

/** What lost a race rejects with this. */
const lost = (): CancelledFailure =>
  new CancelledFailure("The operation was disarmed, because what it was part of is decided.");

/** The stack of a failure is where the operation was called, not where its outcome came in. */
function placed(error: Error, stack: string | undefined): Error {
  if (stack !== undefined) error.stack = stack;
  return error;
}

/** The scope that the argument of a composite was evaluated in. */
const scopeOf = new WeakMap<object, number>();

/**
 * Evaluates the argument of `all`, `any` or `race`, so that the operations belong to it that async
 * functions open inside. The bundler puts it there.
 */
export function scope<T>(within: () => T): T {
  const { value, scope: mine } = bridge("scope()").scoped(within);
  if (typeof value === "object" && value !== null && !disarms.has(value)) scopeOf.set(value, mine);
  return value;
}

/** Marks the promise of a composite: disarming it disarms what is in it. */
export function marked<T>(promise: Promise<T>, disarmAll: () => void): Promise<T> {
  disarms.set(promise, disarmAll);
  return promise;
}

/** Disarms a member of a composite: an operation, another composite, or what an async function waits for. */
export function disarm(member: unknown): void {
  if (typeof member !== "object" || member === null) return;
  const known = disarms.get(member);
  if (known) known();
  else disarmScope(member);
}

/** Disarms everything that was opened while this value was made, and after it. */
function disarmScope(made: object): void {
  const mine = scopeOf.get(made);
  if (mine === undefined) return;
  const host = bridge("disarm()");
  for (const n of host.openIn(mine)) host.cancel(n, lost());
}
