/** What a value is after a trip through JSON: dates are text, functions and `undefined` are gone. */
export type Jsonified<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null
    ? T
    : T extends void
      ? null
      : T extends { toJSON(): infer J }
        ? Jsonified<J>
        : T extends bigint | symbol | ((...args: never) => unknown)
          ? never
          : T extends readonly unknown[]
            ? { [K in keyof T]: Jsonified<T[K]> }
            : T extends object
              ? { [K in keyof T as KeptKey<T, K>]: Kept<T[K]> }
              : never;

/** A property that is undefined is left out, so it stays undefined. */
type Kept<T> = T extends undefined ? undefined : Jsonified<T>;
type KeptKey<T, K extends keyof T> = K extends string | number
  ? T[K] extends symbol | ((...args: never) => unknown)
    ? never
    : K
  : never;
