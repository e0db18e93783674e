import type { Listed, PageRequest } from "../lib/client/index.ts";

const MAX_PAGE_SIZE = 200;

/** A page may be short although there is more, so this reads pages until it has enough entries. */
export async function listUpTo<T>(
  limit: number,
  ask: (page: PageRequest) => Promise<Listed<T>>,
): Promise<Listed<T>> {
  const items: T[] = [];
  let nextCursor: string | undefined;
  do {
    const page = await ask({
      limit: Math.min(MAX_PAGE_SIZE, limit - items.length),
      ...(nextCursor !== undefined && { cursor: nextCursor }),
    });
    items.push(...page.items);
    nextCursor = page.nextCursor;
  } while (nextCursor !== undefined && items.length < limit);
  return { items, ...(nextCursor !== undefined && { nextCursor }) };
}
