import { SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { MAX_QUEUE_DELAY_MS } from "../../definition/limits.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Meter } from "../../ports/meter.ts";

/** A queue, its client and its meter. */
export type Queue = Readonly<{ client: SQSClient; queueUrl: string; meter?: Meter | undefined }>;

/**
 * A message body: for a standard queue with an optional delay, for a FIFO queue with a
 * deduplication id.
 */
export type Sent = Readonly<{ body: string; group: string; afterMs?: number; id?: string }>;

/** Sends a message. The SDK retries where that may help; duplicates caused by that are harmless. */
export async function send({ client, queueUrl, meter }: Queue, sent: Sent): Promise<void> {
  const { body, group, afterMs = 0, id } = sent;
  try {
    await client.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: body,
        MessageGroupId: group,
        ...(id === undefined
          ? { DelaySeconds: delaySeconds(afterMs) }
          : { MessageDeduplicationId: id }),
      }),
    );
  } catch (cause) {
    throw notSent(queueUrl, cause);
  }
  const of = id === undefined ? "sqs" : "sqs-fifo";
  meter?.({ of, requests: billedRequests(body), queue: nameOf(queueUrl) });
}

/**
 * Whole seconds, rounded so that nothing is early; the longest delay of a queue is a quarter of an
 * hour.
 */
export function delaySeconds(afterMs: number): number {
  return Math.ceil(Math.min(Math.max(afterMs, 0), MAX_QUEUE_DELAY_MS) / 1_000);
}

/** One for every started 64 KB. */
function billedRequests(body: string): number {
  return Math.max(1, Math.ceil(Buffer.byteLength(body) / 65_536));
}

function nameOf(queueUrl: string): string {
  return queueUrl.slice(queueUrl.lastIndexOf("/") + 1);
}

function notSent(queueUrl: string, cause: unknown): EngineError {
  const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  return new EngineError("queue/send-failed", {
    happened: "A queue did not take a message",
    where: `queue ${nameOf(queueUrl)}; ${reason}`,
    fix: "What sent it is repeated. If this goes on, look at the function's permissions and at the queue's throttles.",
    cause,
  });
}
