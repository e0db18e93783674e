const CALLERS = 32;

/** So many callers use the items, each the next one when it is done. */
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
