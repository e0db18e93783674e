import type { Context, SQSEvent, SQSRecord } from "aws-lambda";
import type { Workbench } from "../../functions/middleware/batch.ts";
import type { SourceQueue } from "../../functions/middleware/source-queue.ts";
import type {
  Dimensions,
  LogFields,
  MetricName,
  Telemetry,
} from "../../functions/middleware/telemetry.ts";
import { nodeIds } from "../../lib/adapters/node/ids.ts";
import { SimulatedBlobs } from "../../lib/adapters/simulated/blobs.ts";
import { unpackMessage } from "../../lib/adapters/sqs/body.ts";
import type { Message } from "../../lib/ports/message.ts";
import { messageText } from "../../lib/ports/message-text.ts";
import { ManualTime } from "./manual-time.ts";

/** A record as Lambda delivers it; messages are named m1, m2 and so on within one event. */
export function aRecord(
  body: Message | string,
  { id = "m1", receives = 1, group, trace, queue = "tasks" }: RecordOptions = {},
): SQSRecord {
  return {
    messageId: id,
    receiptHandle: `receipt-of-${id}`,
    body: typeof body === "string" ? body : messageText(body),
    attributes: {
      ApproximateReceiveCount: String(receives),
      SentTimestamp: "1893456000000",
      SenderId: "AIDAIENQZJOLO23YVJ4VO",
      ApproximateFirstReceiveTimestamp: "1893456000001",
      ...(group !== undefined && { MessageGroupId: group, SequenceNumber: "18849496460467696128" }),
    },
    messageAttributes:
      trace === undefined ? {} : { traceparent: { stringValue: trace, dataType: "String" } },
    md5OfBody: "e4e68fb7bd0e697a0ae8f1bb342846b3",
    eventSource: "aws:sqs",
    eventSourceARN: `arn:aws:sqs:eu-central-1:123456789012:${queue}`,
    awsRegion: "eu-central-1",
  };
}

type RecordOptions = Readonly<{
  id?: string;
  receives?: number;
  group?: string;
  trace?: string;
  /** The name of its source queue. */
  queue?: string;
}>;

/** A batch of these bodies. */
export function aBatch(...bodies: readonly (Message | string)[]): SQSEvent {
  return { Records: bodies.map((body, n) => aRecord(body, { id: `m${n + 1}` })) };
}

/** The context of an invocation with this much time. */
export function aContext(ms = 30_000): Context {
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: "a-function",
    functionVersion: "$LATEST",
    invokedFunctionArn: "arn:aws:lambda:eu-central-1:123456789012:function:a-function",
    memoryLimitInMB: "512",
    awsRequestId: "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
    logGroupName: "/aws/lambda/a-function",
    logStreamName: "2030/01/01/[$LATEST]0",
    getRemainingTimeInMillis: () => ms,
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
}

/** A queue that records its calls. */
export class RecordingQueue implements SourceQueue {
  readonly asked: string[] = [];
  failure: Error | undefined;

  async hide({ messageId }: SQSRecord, seconds: number): Promise<void> {
    this.#ask(`hide ${messageId} ${seconds}`);
  }

  async sendLater({ messageId }: SQSRecord, seconds: number): Promise<void> {
    this.#ask(`send ${messageId} ${seconds}`);
  }

  async setAside({ messageId }: SQSRecord): Promise<void> {
    this.#ask(`set aside ${messageId}`);
  }

  #ask(what: string): void {
    if (this.failure !== undefined) throw this.failure;
    this.asked.push(what);
  }
}

/** Telemetry that keeps what it gets. */
export class HeardTelemetry implements Telemetry {
  readonly lines: Readonly<{ level: string; name: string; fields: LogFields }>[] = [];
  readonly measured: Partial<Record<MetricName, readonly number[]>> = {};
  /** Those with their own dimensions, in order. */
  readonly apart: Readonly<{ metric: MetricName; dimensions: Dimensions }>[] = [];

  log(level: string, name: string, fields: LogFields): void {
    this.lines.push({ level, name, fields });
  }

  measure(metric: MetricName, value: number, dimensions?: Dimensions): void {
    if (dimensions) this.apart.push({ metric, dimensions });
    this.measured[metric] = [...(this.measured[metric] ?? []), value];
  }
}

/** A workbench on manual time whose queue and telemetry a test can read. */
export function aWorkbench(overrides: Partial<Workbench> = {}) {
  const time = new ManualTime();
  const queue = new RecordingQueue();
  const telemetry = new HeardTelemetry();
  const blobs = new SimulatedBlobs();
  const bench: Workbench = {
    read: (body) => unpackMessage(body, blobs),
    queue,
    clock: time,
    ids: nodeIds(),
    telemetry,
    alarm: time.alarm,
    ...overrides,
  };
  return { bench, time, queue, telemetry };
}

/** The ids of the messages that the queue is to redeliver. */
export function failedIds({
  batchItemFailures,
}: Readonly<{ batchItemFailures: readonly Readonly<{ itemIdentifier: string }>[] }>): string[] {
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}
