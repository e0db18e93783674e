import type { SendMessageCommandInput, SQSClient } from "@aws-sdk/client-sqs";
import { currentTraceparent, TRACEPARENT } from "./middleware/trace.ts";

/** Adds the trace to every message that the client sends, beside its body. */
export function traceMessages(client: SQSClient): SQSClient {
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) =>
        next(commandName === "SendMessageCommand" ? { ...args, input: traced(args.input) } : args),
    { step: "initialize", name: "fermataTrace", override: true },
  );
  return client;
}

function traced<T extends object>(input: T): T {
  const StringValue = currentTraceparent();
  if (StringValue === undefined) return input;
  const { MessageAttributes = {} }: Pick<SendMessageCommandInput, "MessageAttributes"> = input;
  const attribute = { DataType: "String", StringValue };
  return { ...input, MessageAttributes: { ...MessageAttributes, [TRACEPARENT]: attribute } };
}
