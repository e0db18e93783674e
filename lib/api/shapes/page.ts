import * as z from "zod";
import { MAX_PAGE_SIZE } from "../../definition/limits.ts";
import type { PageRequest } from "../../shapes/paging.ts";
import { parseCursor } from "../cursor.ts";
import { DEFAULT_PAGE_SIZE, MAX_CURSOR_LENGTH } from "../limits.ts";
import { named } from "./registry.ts";
import { integer, integerText } from "./values.ts";

const size = { min: 1, max: MAX_PAGE_SIZE };
const cursor = z
  .string()
  .min(1)
  .max(MAX_CURSOR_LENGTH)
  .exactOptional()
  .describe("The `nextCursor` of the page before, unchanged.");

/** What every list takes. */
export const page = { limit: integer(size).exactOptional(), cursor };

/** The same as parameters of a query. */
export const pageQuery = {
  limit: integerText(size)
    .exactOptional()
    .meta({ default: DEFAULT_PAGE_SIZE, description: "How many at most; a page may be shorter." }),
  cursor,
};

/** The page request of a list's parameters. */
export function pageOf({
  limit = DEFAULT_PAGE_SIZE,
  cursor,
}: Readonly<{ limit?: number; cursor?: string }>): PageRequest {
  return cursor === undefined ? { limit } : { limit, cursor: parseCursor(cursor) };
}

/** One page of a list. */
export function listOf<S extends z.ZodType>(id: string, item: S) {
  return named(
    id,
    z.strictObject({
      items: z.array(item),
      nextCursor: z.string().exactOptional().describe("There may be more: pass it as `cursor`."),
    }),
  );
}
