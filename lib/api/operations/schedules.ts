import * as z from "zod";
import { ignoredBody } from "../body.ts";
import { paged } from "../cursor.ts";
import { nothing, type Operation, operation } from "../operation.ts";
import { removed } from "../shapes/event.ts";
import { pageOf, pageQuery } from "../shapes/page.ts";
import { scheduleList } from "../shapes/schedule.ts";
import { madeIdText } from "../shapes/values.ts";

const tag = "Definitions";

/** What begins by itself: start events by timer. */
export const scheduleOperations: readonly Operation[] = [
  operation({
    id: "schedules",
    method: "GET",
    path: "/v1/schedules",
    tag,
    summary: "List what begins by itself",
    description: "The start events by timer of every definition that is deployed.",
    params: nothing,
    query: z.strictObject(pageQuery),
    body: ignoredBody,
    answers: { 200: "A page of schedules, by definition and element." },
    answer: scheduleList,
    problems: ["store/cursor-invalid"],
    run: async ({ query }, { engine }) => ({
      status: 200,
      json: paged(await engine.schedules(pageOf(query))),
    }),
  }),
  operation({
    id: "removeSchedule",
    method: "DELETE",
    path: "/v1/schedules/{scheduleId}",
    tag,
    summary: "Stop a schedule",
    description:
      "It begins nothing any more, until its definition is enabled or deployed anew. Instances that it has begun go on.",
    params: z.strictObject({ scheduleId: madeIdText }),
    query: nothing,
    body: ignoredBody,
    answers: { 200: "Stopped." },
    answer: removed,
    problems: ["schedule/not-found"],
    run: async ({ params }, { engine }) => ({
      status: 200,
      json: await engine.removeSchedule(params.scheduleId),
    }),
  }),
];
