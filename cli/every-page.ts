/** The number of entries per call. */
const PAGE_SIZE = 100;

type Counted<T> = Readonly<{ items: readonly T[]; nextCursor?: string }>;
type Page = Readonly<{ limit: number; cursor?: string }>;

/** Calls until there is no cursor any more: all items, and the sums of the counts of all pages. */
export async function everyPage<T>(
  call: (page: Page) => Promise<Counted<T>>,
): Promise<Readonly<{ items: readonly T[]; sums: Readonly<Record<string, number>> }>> {
  const items: T[] = [];
  const sums: Record<string, number> = {};
  let cursor: string | undefined;
  do {
    const page = await call({ limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) });
    items.push(...page.items);
    for (const [name, count] of Object.entries(page)) {
      if (typeof count === "number") sums[name] = (sums[name] ?? 0) + count;
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return { items, sums };
}
