/** Opening operations, and disarming what lost. */
import { bridge, found, type GuestOutcome } from "./bridge.ts";
import { CancelledFailure, errorOf } from "./errors.ts";

/** Functions of the SDK that open operations: a stack begins with the caller of one of them. */
export type Caller = (...args: never) => unknown;

/** The number of the operation that a promise stands for: no function, which would hold the promise. */
const numbers = new WeakMap<object, number>();
/** How to disarm everything in a composite. */
const disarms = new WeakMap<object, () => void>();

/** Opens an operation. */
export function open<T>(
  op: string,
  fields: string,
  caller: Caller,
  revive?: (value: unknown) => T,
): Promise<T> {
  const host = found ?? bridge(`${caller.name || op}()`);
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const settle = (outcome: GuestOutcome) => {
    if (outcome.cancelled) reject(outcome.cancelled);
    else if (outcome.failure) reject(placed(errorOf(outcome.failure), outcome.stack));
    else resolve(revive ? revive(outcome.value) : (outcome.value as T));
  };
  numbers.set(promise, host.open(op, fields, settle, caller));
  return promise;
}

/** What lost a race rejects with this. */
export const lost = (): CancelledFailure =>
  new CancelledFailure("The operation was disarmed, because what it was part of is decided.");

/** The stack of a failure is where the operation was called, not where its outcome came in. */
function placed(error: Error, stack: string | undefined): Error {
  if (stack !== undefined) error.stack = stack;
  return error;
}

/** The scope that a member of a composite, or all of its members, were evaluated in. */
const scopeOf = new WeakMap<object, number>();

/**
 * Evaluates members of `all`, `any` or `race`, so that the operations belong to them that async
 * functions open inside. The bundler puts it there.
 */
export function scope<T>(within: () => T): T {
  const { value, scope: mine } = bridge("scope()").scoped(within);
  if (typeof value === "object" && value !== null && !isMarked(value)) scopeOf.set(value, mine);
  return value;
}

const isMarked = (value: object): boolean => numbers.has(value) || disarms.has(value);

/** Marks the promise of a composite: disarming it disarms what is in it. */
export function marked<T>(promise: Promise<T>, disarmAll: () => void): Promise<T> {
  disarms.set(promise, disarmAll);
  return promise;
}

/**
 * Disarms a member of a composite: an operation, another composite, or what an async function has
 * open. Of members that share a scope, what belongs to the scopes in `but` is left alone.
 */
export function disarm(member: unknown, but: readonly number[] = []): void {
  if (typeof member !== "object" || member === null) return;
  const n = numbers.get(member);
  if (n !== undefined) bridge("disarm()").cancel(n, lost());
  else if (disarms.has(member)) disarms.get(member)?.();
  else disarmScope(member, but);
}

/** Disarms everything that was opened while this value was made, and what followed from it. */
function disarmScope(made: object, but: readonly number[]): void {
  const mine = scopeOf.get(made);
  if (mine === undefined) return;
  const host = bridge("disarm()");
  for (const n of host.openIn(mine, but)) host.cancel(n, lost());
}
