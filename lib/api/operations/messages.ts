import type * as z from "zod";
import { correlationText } from "../../definition/expression.ts";
import type { MessageRequest } from "../../shapes/signals.ts";
import { jsonBody } from "../body.ts";
import { nothing, type Operation, operation } from "../operation.ts";
import * as shape from "../shapes/message.ts";

/** Publishing messages. */
export const messageOperations: readonly Operation[] = [
  operation({
    id: "message",
    method: "POST",
    path: "/v1/messages",
    tag: "Messages",
    summary: "Send a message",
    description:
      "Goes to the wait for this name and key, or starts an instance, or is kept for a later wait. Sent again with the same `messageId` or Idempotency-Key it is a `duplicate`; with another payload it is refused.",
    takesKey: true,
    params: nothing,
    query: nothing,
    body: jsonBody(shape.message),
    answers: { 200: "Accepted; `outcome` says what happened to it." },
    answer: shape.correlated,
    problems: ["message/no-waiter", "message/mailbox-full", "request/key-reused"],
    run: async ({ body, key }, { engine }) => ({
      status: 200,
      json: await engine.message(messageOf(body), key),
    }),
  }),
];

/** The message of a request: a number as its key stands for its text, as in a process. */
export function messageOf({
  correlationKey,
  ...rest
}: z.output<typeof shape.message>): MessageRequest {
  if (correlationKey === undefined) return rest;
  const isNumber = typeof correlationKey === "number";
  return { ...rest, correlationKey: isNumber ? correlationText(correlationKey) : correlationKey };
}
