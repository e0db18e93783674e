import * as z from "zod";
import { UNDECLARED } from "../../engine/rows/event.ts";
import type { EventAnswer } from "../../shapes/signals.ts";
import { ignoredBody, jsonBody, noBody } from "../body.ts";
import { paged } from "../cursor.ts";
import { nothing, type Operation, operation } from "../operation.ts";
import * as shape from "../shapes/event.ts";
import { pageOf, pageQuery } from "../shapes/page.ts";
import { madeIdText, nameText } from "../shapes/values.ts";

const byName = z.strictObject({ name: nameText });
const byLetter = z.strictObject({ deadLetterId: madeIdText });
const tag = "Events";
const sentAnswers = {
  200: "The outcome is known.",
  202: "Accepted, and on its way; its receipt tells how far it got.",
};

/** Events, event types and dead letters. */
export const eventOperations: readonly Operation[] = [
  operation({
    id: "event",
    method: "POST",
    path: "/v1/events",
    tag,
    summary: "Send an event",
    description:
      "To its target instance, or broadcast as its type says. Repeating it with the same `id` or Idempotency-Key is the same event.",
    takesKey: true,
    params: nothing,
    query: nothing,
    body: jsonBody(shape.event),
    answers: sentAnswers,
    answer: shape.sent,
    problems: [
      "instance/not-found",
      "instance/ended",
      "event/inbox-full",
      "event/too-many-kept",
      "request/key-reused",
    ],
    run: async ({ body, key }, { engine }) => sent(await engine.event(body, key)),
  }),
  operation({
    id: "setEventType",
    method: "PUT",
    path: "/v1/event-types/{name}",
    tag,
    summary: "Declare how events of a name behave",
    description:
      "For events that are accepted from now on. Omitted settings get their defaults, whatever they were before.",
    params: byName,
    query: nothing,
    body: jsonBody(shape.eventSettings),
    answers: { 200: "Declared." },
    answer: shape.eventType,
    problems: [],
    run: async ({ params, body }, { engine }) => ({
      status: 200,
      json: await engine.setEventType(params.name, { ...UNDECLARED, ...body }),
    }),
  }),
  operation({
    id: "eventType",
    method: "GET",
    path: "/v1/event-types/{name}",
    tag,
    summary: "How events of a name behave",
    params: byName,
    query: nothing,
    body: ignoredBody,
    answers: { 200: "As declared, or the defaults." },
    answer: shape.eventType,
    problems: [],
    run: async ({ params }, { engine }) => ({
      status: 200,
      json: await engine.eventType(params.name),
    }),
  }),
  operation({
    id: "deadLetters",
    method: "GET",
    path: "/v1/dead-letters",
    tag,
    summary: "List events that could not be delivered",
    description: "Kept for 30 days.",
    params: nothing,
    query: z.strictObject({
      name: nameText.exactOptional().describe("Only events of this name."),
      ...pageQuery,
    }),
    body: ignoredBody,
    answers: { 200: "A page of dead letters." },
    answer: shape.deadLetterList,
    problems: ["store/cursor-invalid"],
    run: async ({ query }, { engine }) => {
      const { limit, cursor, ...filter } = query;
      return { status: 200, json: paged(await engine.deadLetters(filter, pageOf(query))) };
    },
  }),
  operation({
    id: "replayDeadLetter",
    method: "POST",
    path: "/v1/dead-letters/{deadLetterId}/replay",
    tag,
    summary: "Broadcast a dead letter again",
    description:
      "Under a new id, which the response has. It stays a dead letter if nothing takes it.",
    params: byLetter,
    query: nothing,
    body: noBody,
    answers: sentAnswers,
    answer: shape.sent,
    problems: ["dead-letter/not-found", "event/too-many-kept"],
    run: async ({ params }, { engine }) => sent(await engine.replayDeadLetter(params.deadLetterId)),
  }),
  operation({
    id: "removeDeadLetter",
    method: "DELETE",
    path: "/v1/dead-letters/{deadLetterId}",
    tag,
    summary: "Remove a dead letter",
    params: byLetter,
    query: nothing,
    body: ignoredBody,
    answers: { 200: "Removed." },
    answer: shape.removed,
    problems: ["dead-letter/not-found"],
    run: async ({ params }, { engine }) => ({
      status: 200,
      json: await engine.removeDeadLetter(params.deadLetterId),
    }),
  }),
];

function sent(answer: EventAnswer) {
  return { status: answer.outcome === undefined ? 202 : 200, json: answer };
}
