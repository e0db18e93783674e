import * as z from "zod";
import { ignoredBody, jsonBody } from "../body.ts";
import { nothing, type Operation, operation } from "../operation.ts";
import * as shape from "../shapes/signal.ts";
import { madeIdText } from "../shapes/values.ts";

const tag = "Signals";

/** Broadcasting signals. */
export const signalOperations: readonly Operation[] = [
  operation({
    id: "signal",
    method: "POST",
    path: "/v1/signals",
    tag,
    summary: "Broadcast a signal",
    description:
      "Reaches every wait that is open now, and starts instances of definitions with such a start event. It is not kept for later waits. Repeating it with the same `id` or Idempotency-Key is the same broadcast.",
    takesKey: true,
    params: nothing,
    query: nothing,
    body: jsonBody(shape.signal),
    answers: {
      200: "Every wait was reached; the counts say how many.",
      202: "Accepted, and on its way; the receipt tells how far it got.",
    },
    answer: shape.broadcast,
    answerHeaders: { location: "The path of the receipt." },
    problems: ["request/key-reused"],
    run: async ({ body, key }, { engine }) => {
      const answer = await engine.signal(body, key);
      return {
        status: answer.deliveredCount === undefined ? 202 : 200,
        headers: { location: `/v1/signals/${encodeURIComponent(answer.broadcastId)}` },
        json: answer,
      };
    },
  }),
  operation({
    id: "receipt",
    method: "GET",
    path: "/v1/signals/{broadcastId}",
    tag,
    summary: "The receipt of a broadcast",
    description: "Of a signal, and of an event that was broadcast. Kept for 15 days.",
    params: z.strictObject({ broadcastId: madeIdText }),
    query: nothing,
    body: ignoredBody,
    answers: { 200: "The receipt as it stands; final when it is complete." },
    answer: shape.receipt,
    problems: ["broadcast/not-found"],
    run: async ({ params }, { engine }) => ({
      status: 200,
      json: await engine.receipt(params.broadcastId),
    }),
  }),
];
