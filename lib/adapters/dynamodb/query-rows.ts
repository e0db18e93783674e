import { QueryCommand } from "@aws-sdk/client-dynamodb";
import type { Page, Range } from "../../ports/store.ts";
import { storeLimits } from "../../ports/store-rules.ts";
import { type Attributes, keyAttributes, parseKey } from "./attributes.ts";
import { cursorFor, parseCursor, type Question } from "./cursor.ts";
import type { DuePart } from "./due-place.ts";
import { type Bounds, keyCondition, restOf } from "./query-range.ts";
import type { TableAccess } from "./table-access.ts";

/** A page of a range: rows of a partition, or of a view in the listing index. */
export async function queryPage(
  access: TableAccess,
  question: Question,
  range: Range,
): Promise<Page<Attributes>> {
  const [kind, partition] = question;
  const from = kind === "scan" ? "table" : "listing";
  const position = range.after === undefined ? [] : parseCursor(question, range.after);
  const rest = restOf(range, position[0]);
  if (rest === "nowhere") return { items: [] };
  const limit = Math.min(range.limit, storeLimits.itemsPerPage);
  const items: Attributes[] = [];
  let start = rest.usesCursor ? startOf(question, position) : undefined;
  for (;;) {
    const asked = { from, partition, bounds: rest, limit: limit - items.length, start } as const;
    const { rows, last } = await query(access, { ...asked, isBackwards: range.backwards === true });
    // Between two bounds a query includes both ends, and the upper one is not wanted.
    const wanted = rows.filter((row) => row[KEYS[from].sort]?.S !== range.to);
    items.push(...wanted);
    if (last === undefined) return { items };
    const isFull = wanted.length === rows.length || items.length === limit;
    const told = items.at(-1);
    if (isFull && told) return { items, next: cursorFor(question, positionOf(question, told)) };
    start = last;
  }
}

/** The due rows of one partition of the index, from its beginning. */
export async function queryDue(
  access: TableAccess,
  asked: Readonly<{ partition: string; bounds: Bounds; limit: number }>,
): Promise<DuePart> {
  const { rows, last } = await query(access, { ...asked, from: "due" });
  const found = rows.map((row) => ({ place: row.dueSk?.S ?? "", key: parseKey(row) }));
  return { rows: found, more: last !== undefined };
}

type Asked = Readonly<{
  from: keyof typeof KEYS;
  partition: string;
  bounds: Bounds;
  limit: number;
  isBackwards?: boolean;
  start?: Attributes | undefined;
}>;

const KEYS = {
  table: { hash: "pk", sort: "sk" },
  due: { hash: "duePk", sort: "dueSk" },
  listing: { hash: "listPk", sort: "listSk" },
} as const;

/** One response; `last` is where it stopped, because of the limit or because of its size. */
async function query({ client, table, metering }: TableAccess, asked: Asked) {
  const { from, partition, bounds, limit, isBackwards, start } = asked;
  const { Items: rows = [], LastEvaluatedKey: last } = await client.send(
    new QueryCommand({
      TableName: table,
      ...(from === "table" ? { ConsistentRead: true } : { IndexName: from }),
      ...keyCondition(KEYS[from], partition, bounds),
      Limit: limit,
      ScanIndexForward: isBackwards !== true,
      ...(start && { ExclusiveStartKey: start }),
    }),
  );
  if (from === "table") metering?.scanned(rows);
  else metering?.queried(from, rows);
  return { rows, last };
}

/** What a cursor keeps of the last row that was returned. */
function positionOf([kind]: Question, row: Attributes): readonly string[] {
  const { pk, sk } = parseKey(row);
  return kind === "scan" ? [sk] : [row.listSk?.S ?? "", pk, sk];
}

/** The row to continue after, which need not exist any more. */
function startOf([kind, partition]: Question, position: readonly string[]): Attributes {
  const [place = "", pk = "", sk = ""] = position;
  if (kind === "scan") return keyAttributes({ pk: partition, sk: place });
  return { ...keyAttributes({ pk, sk }), listPk: { S: partition }, listSk: { S: place } };
}
