import type { SQSRecord } from "aws-lambda";
import { traceparentIn } from "../../lib/adapters/sqs/wire.ts";
import { TRACEPARENT } from "./trace.ts";

/** Which trace sent a message: queues say it beside the body, what came over the bus or from a schedule in it. */
export function parentTrace({ messageAttributes, body }: SQSRecord): string | undefined {
  return messageAttributes[TRACEPARENT]?.stringValue ?? traceparentIn(body);
}
