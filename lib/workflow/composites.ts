/** Waiting for several things at once. */
import { found } from "./bridge.ts";
import { disarm, marked } from "./operation.ts";

type Members = readonly unknown[] | Readonly<Record<string, unknown>>;

/** The results of all members, in the same shape. */
export type Results<M extends Members> = { -readonly [K in keyof M]: Awaited<M[K]> };

/** What was first: of a list its value; of an object `{ key, value }`. */
export type First<M extends Members> = M extends readonly unknown[]
  ? Awaited<M[number]>
  : { [K in keyof M]: { key: K; value: Awaited<M[K]> } }[keyof M];

/**
 * Waits for every member. The first failure rejects at once and disarms the rest, unless
 * `onFailure` is "leave".
 */
export function all<const M extends Members>(
  members: M,
  { onFailure = "cancel" }: Readonly<{ onFailure?: "cancel" | "leave" }> = {},
): Promise<Results<M>> {
  const values: Record<string, unknown> = {};
  return composed<Results<M>>(members, {
    whenEmpty: ({ resolve }) => resolve(shaped(members, values) as Results<M>),
    onValue: (key, value, { resolve, missing }) => {
      values[key] = value;
      if (missing === 0) resolve(shaped(members, values) as Results<M>);
    },
    onError: (_, error, { reject, disarmRest }) => {
      reject(error);
      if (onFailure === "cancel") disarmRest();
    },
  });
}

/** The first success; the others are disarmed. When all fail, an `AggregateError`. */
export function any<const M extends Members>(members: M): Promise<First<M>> {
  const errors = new Map<string, unknown>();
  const inOrder = () => entriesOf(members).map(([key]) => errors.get(key));
  const failure = () => new AggregateError(inOrder(), "All members of any() have failed.");
  return composed<First<M>>(members, {
    whenEmpty: ({ reject }) => reject(failure()),
    onValue: (key, value, { resolve, disarmRest }) => {
      resolve(firstOf(members, key, value) as First<M>);
      disarmRest();
    },
    onError: (key, error, { reject, missing }) => {
      errors.set(key, error);
      if (missing === 0) reject(failure());
    },
  });
}

/** The first member that settles, whether it succeeds or fails; the others are disarmed. */
export function race<const M extends Members>(members: M): Promise<First<M>> {
  return composed<First<M>>(members, {
    whenEmpty: () => {
      throw new RangeError("race() of nothing would never end.");
    },
    onValue: (key, value, { resolve, disarmRest }) => {
      resolve(firstOf(members, key, value) as First<M>);
      disarmRest();
    },
    onError: (_, error, { reject, disarmRest }) => {
      reject(error);
      disarmRest();
    },
  });
}

/** How a composite is decided. */
type Rules<T> = Readonly<{
  whenEmpty(decide: Pick<Decide<T>, "resolve" | "reject">): void;
  onValue(key: string, value: unknown, decide: Decide<T>): void;
  onError(key: string, error: unknown, decide: Decide<T>): void;
}>;

type Decide<T> = Readonly<{
  /** How many members have not settled. */
  missing: number;
  resolve(value: T): void;
  reject(error: unknown): void;
  disarmRest(): void;
}>;

/**
 * Follows the members of a composite until it is decided.
 *
 * 1. A member that has settled keeps what it left open: that was not awaited, so it still runs. Only
 *    members that have not settled are disarmed.
 * 2. Members that are written out have a scope each, which is disarmed as a whole. Others share one;
 *    of that, what followed from the operations by which members settled is left alone. What such a
 *    member opened beside them, before it first waited, cannot be told from the operations of the
 *    others, and is disarmed with them.
 * 3. Once it is decided, nothing more is disarmed, and what the code does next belongs to the scope
 *    that the composite was called in, and no longer to the member that decided it.
 */
function composed<T>(members: Members, rules: Rules<T>): Promise<T> {
  const entries = entriesOf(members);
  const outer = found?.here() ?? 0;
  const open = new Map(entries);
  const settledIn: number[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let isDecided = false;
  let isDisarmed = false;
  const decided = () => {
    isDecided = true;
    // What is disarmed is decided within another composite's decision, and changes nothing in it.
    if (!isDisarmed) found?.enter(outer);
  };
  const disarmRest = () => {
    for (const member of [...open.values()]) disarm(member);
    disarm(members, settledIn);
  };
  const decide = (): Decide<T> => ({
    missing: open.size,
    resolve: (value) => {
      resolve(value);
      decided();
    },
    reject: (error) => {
      reject(error);
      decided();
    },
    disarmRest,
  });
  const settled = (key: string, tell: () => void) => {
    open.delete(key);
    if (isDecided) return;
    settledIn.push(found?.here() ?? 0);
    tell();
  };
  if (entries.length === 0) rules.whenEmpty({ resolve, reject });
  for (const [key, member] of entries) {
    Promise.resolve(member).then(
      (value) => settled(key, () => rules.onValue(key, value, decide())),
      (error: unknown) => settled(key, () => rules.onError(key, error, decide())),
    );
  }
  return marked(promise, () => {
    if (isDecided) return;
    isDisarmed = true;
    disarmRest();
  });
}

type Entries = readonly (readonly [key: string, member: unknown])[];

function entriesOf(members: Members): Entries {
  if (typeof members !== "object" || members === null) {
    throw new TypeError("all(), any() and race() take a list or an object.");
  }
  return Object.entries(members);
}

function shaped(members: Members, values: Readonly<Record<string, unknown>>): unknown {
  if (!Array.isArray(members)) {
    return Object.fromEntries(Object.keys(members).map((key) => [key, values[key]]));
  }
  return members.map((_, at) => values[at]);
}

const firstOf = (members: Members, key: string, value: unknown): unknown =>
  Array.isArray(members) ? value : { key, value };
