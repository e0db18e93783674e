/** What every call may carry: a key that makes it repeatable, and pages of what is listed. */

/** The same key and body give the same answer; another body under the same key is refused. */
export type IdempotencyKey = string;

/** `limit` is at most 200; `cursor` is the `nextCursor` of the page before. */
export type PageRequest = Readonly<{ limit: number; cursor?: string }>;

export type Listed<T> = Readonly<{ items: readonly T[]; nextCursor?: string }>;
