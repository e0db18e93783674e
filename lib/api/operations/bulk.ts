import * as z from "zod";
import { ignoredBody, jsonBody } from "../body.ts";
import { paged, parseCursor } from "../cursor.ts";
import { nothing, type Operation, operation } from "../operation.ts";
import * as shape from "../shapes/bulk.ts";
import { pageOf, pageQuery } from "../shapes/page.ts";

const tag = "Instances";

/** Bulk calls; dry runs by default. */
export const bulkOperations: readonly Operation[] = [
  operation({
    id: "incidents",
    method: "GET",
    path: "/v1/incidents",
    tag,
    summary: "List open incidents, those of the newest instances first",
    description:
      "Read from the instances that have any. A page may be short, even empty, and still have a `nextCursor`.",
    params: nothing,
    query: z.strictObject({ ...shape.incidentFilter, ...pageQuery }),
    body: ignoredBody,
    answers: { 200: "A page of incidents." },
    answer: shape.incidentList,
    problems: ["store/cursor-invalid"],
    run: async ({ query }, { engine }) => {
      const { limit, cursor, ...filter } = query;
      return { status: 200, json: paged(await engine.incidents(filter, pageOf(query))) };
    },
  }),
  operation({
    id: "resolveIncidents",
    method: "POST",
    path: "/v1/incidents:resolve",
    tag,
    summary: "Resolve the incidents that a filter matches, a page at a time",
    description:
      "A dry run unless `dryRun` is false. Each incident is resolved by its own id, as if by a call of its own: one that was resolved meanwhile is `gone`, and a new incident is left alone. Repeating a call does no harm. After 20 seconds a call ends early, and `nextCursor` continues after the last incident handled.",
    params: nothing,
    query: nothing,
    body: jsonBody(shape.resolveMany),
    answers: { 200: "What was found and done; with `nextCursor` there may be more." },
    answer: shape.resolveReport,
    problems: ["store/cursor-invalid"],
    run: async ({ body }, { engine }) => ({
      status: 200,
      json: paged(await engine.resolveIncidents(withCursor(body))),
    }),
  }),
  operation({
    id: "purge",
    method: "POST",
    path: "/v1/instances:purge",
    tag,
    summary: "Erase the ended instances that a filter matches, a page at a time",
    description:
      "A dry run unless `dryRun` is false. Live instances are never matched. Repeating a call is safe. After 20 seconds a call ends early, and `nextCursor` continues after the last instance handled.",
    params: nothing,
    query: nothing,
    body: jsonBody(shape.purge),
    answers: { 200: "What was found and done; with `nextCursor` there may be more." },
    answer: shape.purgeReport,
    problems: ["store/cursor-invalid"],
    run: async ({ body }, { engine }) => ({
      status: 200,
      json: paged(await engine.purge(withCursor(body))),
    }),
  }),
];

/** The cursor in a body is the text that `paged` made of one. */
function withCursor<T extends Readonly<{ cursor?: string }>>(body: T): T {
  return body.cursor === undefined ? body : { ...body, cursor: parseCursor(body.cursor) };
}
