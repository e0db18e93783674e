import * as z from "zod";
import { ignoredBody, jsonBody, noBody } from "../body.ts";
import { paged } from "../cursor.ts";
import { JSON_TYPE } from "../http.ts";
import { nothing, type Operation, operation } from "../operation.ts";
import { refuse } from "../refuse.ts";
import { pageOf, pageQuery } from "../shapes/page.ts";
import * as shape from "../shapes/service.ts";

const tag = "Service";

/** The engine itself: health, document, recovery, clock. */
export const serviceOperations: readonly Operation[] = [
  operation({
    id: "health",
    method: "GET",
    path: "/v1/health",
    tag,
    summary: "Whether the engine answers",
    description:
      "An embedded engine that has stopped returns 503 and the code of the reason, `store/files-removed` or `store/corrupt`, with which it refuses every other call. The store is not read.",
    isOpen: true,
    params: nothing,
    query: nothing,
    body: ignoredBody,
    answers: { 200: "It does." },
    answer: shape.health,
    problems: ["store/files-removed"],
    run: async (_, { settings, extras }) => {
      extras.checkRunning?.();
      return {
        status: 200,
        json: {
          status: "ok" as const,
          version: settings.version,
          clock: extras.clock === undefined ? ("real" as const) : ("virtual" as const),
        },
      };
    },
  }),
  operation({
    id: "openApi",
    method: "GET",
    path: "/v1/openapi.json",
    tag,
    summary: "This document",
    isOpen: true,
    params: nothing,
    query: nothing,
    body: ignoredBody,
    answers: { 200: "OpenAPI 3.1, made from the shapes that requests are checked against." },
    answer: shape.openApi,
    problems: [],
    run: async (_, { document }) => ({ status: 200, raw: document(), type: JSON_TYPE }),
  }),
  operation({
    id: "recover",
    method: "POST",
    path: "/v1/recover",
    tag,
    summary: "Recover lost messages and timers",
    description: "The engine does this by itself as well; calling it is always safe.",
    params: nothing,
    query: nothing,
    body: noBody,
    answers: { 200: "What was found and done." },
    answer: shape.recovery,
    problems: [],
    run: async (_, { engine }) => ({ status: 200, json: await engine.recover() }),
  }),
  operation({
    id: "recoverAll",
    method: "POST",
    path: "/v1/recover/all",
    tag,
    summary: "Recover every live instance",
    description:
      "A page of live instances at a time, the newest first, as if every queue had been emptied and every timer lost: for a restored table. Duplicates are handled once.",
    params: nothing,
    query: z.strictObject(pageQuery),
    body: noBody,
    answers: { 200: "What was found and done; with `nextCursor` there may be more." },
    answer: shape.recoveryPage,
    problems: ["store/cursor-invalid"],
    run: async ({ query }, { engine }) => ({
      status: 200,
      json: paged(await engine.recoverAll(pageOf(query))),
    }),
  }),
  operation({
    id: "advanceClock",
    method: "POST",
    path: "/v1/clock/advance",
    tag,
    summary: "Move the virtual clock",
    description:
      "The clock stops at each due instant in turn, and timers armed on the way fire too. Answers when no work is left, or lists in `left` what is.",
    params: nothing,
    query: nothing,
    body: jsonBody(shape.advance),
    answers: { 200: "Advanced." },
    answer: shape.advanced,
    problems: ["request/clock-not-virtual"],
    run: async ({ body }, { extras }) => {
      if (extras.clock === undefined) throw realClock();
      return { status: 200, json: await extras.clock.advance(body.by) };
    },
  }),
];

function realClock() {
  return refuse(
    "request/clock-not-virtual",
    "The engine runs on the real clock, which cannot be advanced",
    "POST /v1/clock/advance",
    "Start the engine with a virtual clock: `fermata dev --clock virtual`.",
  );
}
