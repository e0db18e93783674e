const CALLERS = 32;

/** This many callers process the items concurrently. */
export async function inParallel<T>(
  items: Iterable<T>,
  use: (item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const work = async () => {
    for (let next = left.next(); !next.done; next = left.next()) await use(next.value);
  };
  await Promise.all(Array.from({ length: CALLERS }, work));
}
