import * as z from "zod";
import { ignoredBody } from "../body.ts";
import { paged } from "../cursor.ts";
import { nothing, type Operation, operation } from "../operation.ts";
import { removed } from "../shapes/event.ts";
import { pageOf, pageQuery } from "../shapes/page.ts";
import { scheduleList } from "../shapes/schedule.ts";
import { madeIdText } from "../shapes/values.ts";

const tag = "Definitions";

/** Schedules: timer start events. */
export const scheduleOperations: readonly Operation[] = [
  operation({
    id: "schedules",
    method: "GET",
    path: "/v1/schedules",
    tag,
    summary: "List timer start events",
    description: "The timer start events of every deployed definition.",
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
      "It starts no more instances, until its definition is enabled or deployed again. Its running instances continue.",
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
