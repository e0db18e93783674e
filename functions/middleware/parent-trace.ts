import type { SQSRecord } from "aws-lambda";
import { traceparentIn } from "../../lib/adapters/sqs/wire.ts";
import { TRACEPARENT } from "./trace.ts";

/**
 * The trace of a message: beside its body, or, if it came over the bus or from a schedule, in the
 * body.
 */
export function parentTrace({ messageAttributes, body }: SQSRecord): string | undefined {
  return messageAttributes[TRACEPARENT]?.stringValue ?? traceparentIn(body);
}
