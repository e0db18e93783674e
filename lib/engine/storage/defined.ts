/** The same object without its properties that are undefined. */
export function defined<T extends object>(values: T): Defined<T> {
  const present = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as Defined<T>;
}

type Defined<T> = Readonly<
  { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
    [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
  }
>;
