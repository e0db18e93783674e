/** Waiting for several things at once. */
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
  const entries = entriesOf(members);
  const decision = decisionOf(members, entries);
  const result = new Promise<Results<M>>((resolve, reject) => {
    const values: Record<string, unknown> = {};
    let missing = entries.length;
    const done = () => {
      resolve(shaped(members, values) as Results<M>);
      decision.leave();
    };
    if (missing === 0) done();
    for (const [key, member] of entries) {
      Promise.resolve(member).then(
        (value) => {
          values[key] = value;
          missing -= 1;
          if (missing === 0) done();
        },
        (error: unknown) => {
          reject(error);
          decision[onFailure]();
        },
      );
    }
  });
  return marked(result, decision.cancel);
}

/** The first success; the others are disarmed. When all fail, an `AggregateError`. */
export function any<const M extends Members>(members: M): Promise<First<M>> {
  const entries = entriesOf(members);
  const decision = decisionOf(members, entries);
  const result = new Promise<First<M>>((resolve, reject) => {
    const errors: unknown[] = [];
    let missing = entries.length;
    const failed = () => {
      reject(new AggregateError(errors, "All members of any() have failed."));
      decision.leave();
    };
    if (missing === 0) failed();
    for (const [at, [key, member]] of entries.entries()) {
      Promise.resolve(member).then(
        (value) => {
          resolve(firstOf(members, key, value) as First<M>);
          decision.cancel();
        },
        (error: unknown) => {
          errors[at] = error;
          missing -= 1;
          if (missing === 0) failed();
        },
      );
    }
  });
  return marked(result, decision.cancel);
}

/** The first member that settles, whether it succeeds or fails; the others are disarmed. */
export function race<const M extends Members>(members: M): Promise<First<M>> {
  const entries = entriesOf(members);
  if (entries.length === 0) throw new RangeError("race() of nothing would never end.");
  const decision = decisionOf(members, entries);
  const result = new Promise<First<M>>((resolve, reject) => {
    for (const [key, member] of entries) {
      Promise.resolve(member).then(
        (value) => {
          resolve(firstOf(members, key, value) as First<M>);
          decision.cancel();
        },
        (error: unknown) => {
          reject(error);
          decision.cancel();
        },
      );
    }
  });
  return marked(result, decision.cancel);
}

type Entries = readonly (readonly [key: string, member: unknown])[];

function entriesOf(members: Members): Entries {
  if (typeof members !== "object" || members === null) {
    throw new TypeError("all(), any() and race() take a list or an object.");
  }
  return Object.entries(members);
}

/**
 * What becomes of the members when it is decided: they are disarmed, or left alone. Only once: what
 * is opened after that belongs to whoever waited for the decision.
 */
function decisionOf(members: Members, entries: Entries) {
  let isOpen = true;
  return {
    cancel: () => {
      if (!isOpen) return;
      isOpen = false;
      // The one that decided it is settled by now, so disarming it changes nothing.
      for (const [, member] of entries) disarm(member);
      disarm(members);
    },
    leave: () => {
      isOpen = false;
    },
  };
}

function shaped(members: Members, values: Readonly<Record<string, unknown>>): unknown {
  if (!Array.isArray(members)) {
    return Object.fromEntries(Object.keys(members).map((key) => [key, values[key]]));
  }
  return members.map((_, at) => values[at]);
}

const firstOf = (members: Members, key: string, value: unknown): unknown =>
  Array.isArray(members) ? value : { key, value };
