/**
 * Waiting for several things at once.
 *
 * 1. The first decision counts. It disarms the members that have not settled, and nothing of those
 *    that have: what they started and did not wait for goes on.
 * 2. Members that are written out have a scope each, which is disarmed as a whole. Others share one;
 *    of that, what followed from the operations by which members settled is left alone. What such a
 *    member opened beside them, before it first waited, cannot be told from the operations of the
 *    others, and is disarmed with them.
 * 3. What the code does after the decision belongs to the scope that the composite was called in, and
 *    no longer to the member that decided it.
 * 4. A composite that is disarmed before its decision rejects with `CancelledFailure`, and changes
 *    nothing in the decision that disarmed it.
 */
import { found } from "./bridge.ts";
import { disarm, lost, marked } from "./operation.ts";

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
  { onFailure = "cancel" }: Readonly<{ onFailure?: Rest }> = {},
): Promise<Results<M>> {
  const entries = entriesOf(members);
  const values = new Map<string, unknown>();
  const done = () => shaped(members, entries, values) as Results<M>;
  return composed<Results<M>>(members, entries, ({ resolve, reject }) => {
    if (entries.length === 0) resolve(done(), "leave");
    return {
      succeeded: (key, value) => {
        values.set(key, value);
        if (values.size === entries.length) resolve(done(), "leave");
      },
      failed: (_, error) => reject(error, onFailure),
    };
  });
}

/** The first success; the others are disarmed. When all fail, an `AggregateError`. */
export function any<const M extends Members>(members: M): Promise<First<M>> {
  const entries = entriesOf(members);
  const errors = new Map<string, unknown>();
  const inOrder = () => entries.map(([key]) => errors.get(key));
  const failure = () => new AggregateError(inOrder(), "All members of any() have failed.");
  return composed<First<M>>(members, entries, ({ resolve, reject }) => {
    if (entries.length === 0) reject(failure());
    return {
      succeeded: (key, value) => resolve(firstOf(members, key, value) as First<M>),
      failed: (key, error) => {
        errors.set(key, error);
        if (errors.size === entries.length) reject(failure());
      },
    };
  });
}

/** The first member that settles, whether it succeeds or fails; the others are disarmed. */
export function race<const M extends Members>(members: M): Promise<First<M>> {
  const entries = entriesOf(members);
  if (entries.length === 0) throw new RangeError("race() of nothing would never end.");
  return composed<First<M>>(members, entries, ({ resolve, reject }) => ({
    succeeded: (key, value) => resolve(firstOf(members, key, value) as First<M>),
    failed: (_, error) => reject(error),
  }));
}

type Entries = readonly (readonly [key: string, member: unknown])[];

/** What becomes of members that have not settled, and of what the settled ones did not wait for. */
type Rest = "cancel" | "leave";
type Decide<T> = Readonly<{
  resolve: (value: T, rest?: Rest) => void;
  reject: (error: unknown, rest?: Rest) => void;
}>;
type Listener = Readonly<{
  succeeded: (key: string, value: unknown) => void;
  failed: (key: string, error: unknown) => void;
}>;

function composed<T>(
  members: Members,
  entries: Entries,
  listenerOf: (decide: Decide<T>) => Listener,
): Promise<T> {
  const outer = found?.here() ?? 0;
  const unsettled = new Map(entries);
  const settledIn: number[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let isDecided = false;
  const decide = (settle: () => void, rest: Rest) => {
    if (isDecided) return;
    isDecided = true;
    settle();
    if (rest === "leave") return;
    for (const member of [...unsettled.values()]) disarm(member);
    disarm(members, settledIn);
  };
  const decideHere = (settle: () => void, rest: Rest = "cancel") => {
    if (isDecided) return;
    decide(settle, rest);
    found?.enter(outer);
  };
  const { succeeded, failed } = listenerOf({
    resolve: (value, rest) => decideHere(() => resolve(value), rest),
    reject: (error, rest) => decideHere(() => reject(error), rest),
  });
  for (const [key, member] of entries) {
    const settled = (listen: Listener["failed"]) => (outcome: unknown) => {
      unsettled.delete(key);
      if (!isDecided) settledIn.push(found?.here() ?? 0);
      listen(key, outcome);
    };
    Promise.resolve(member).then(settled(succeeded), settled(failed));
  }
  return marked(promise, () => decide(() => reject(lost()), "cancel"));
}

function entriesOf(members: Members): Entries {
  if (Array.isArray(members)) return Array.from(members, (member, at) => [String(at), member]);
  if (typeof members !== "object" || members === null || isOther(members)) {
    throw new TypeError("all(), any() and race() take a list or an object.");
  }
  return Object.entries(members);
}

/** A promise, a set or a generator has no entries, so nothing would be waited for. */
const isOther = (members: object): boolean => "then" in members || Symbol.iterator in members;

function shaped(members: Members, entries: Entries, values: ReadonlyMap<string, unknown>): unknown {
  const results = entries.map(([key]) => [key, values.get(key)] as const);
  return Array.isArray(members) ? results.map(([, value]) => value) : Object.fromEntries(results);
}

const firstOf = (members: Members, key: string, value: unknown): unknown =>
  Array.isArray(members) ? value : { key, value };
