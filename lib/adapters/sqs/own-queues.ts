import { GetQueueUrlCommand, SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { EngineError } from "../../ports/engine-error.ts";
import type { OwnQueues } from "../../ports/own-queues.ts";
import { delaySeconds } from "./send.ts";

/** SQS queues of the user's: those that the installation was told of, and no others. */
export class SqsOwnQueues implements OwnQueues {
  readonly #client: SQSClient;
  readonly #allowed: ReadonlySet<string>;
  readonly #urls = new Map<string, string>();

  constructor({ client, allowed }: Readonly<{ client: SQSClient; allowed: readonly string[] }>) {
    this.#client = client;
    this.#allowed = new Set(allowed);
  }

  allows(queueArn: string): boolean {
    return this.#allowed.has(queueArn);
  }

  async send(queueArn: string, body: string, delayMs: number): Promise<"sent" | "refused"> {
    // It may have been allowed when it was set, and no longer be.
    if (!this.allows(queueArn)) return "refused";
    try {
      const QueueUrl = await this.#urlOf(queueArn);
      const DelaySeconds = delaySeconds(delayMs);
      await this.#client.send(
        new SendMessageCommand({ QueueUrl, MessageBody: plain(body), DelaySeconds }),
      );
      return "sent";
    } catch (cause) {
      if (isRefusal(cause)) return "refused";
      throw notSent(queueArn, cause);
    }
  }

  async #urlOf(queueArn: string): Promise<string> {
    const known = this.#urls.get(queueArn);
    if (known !== undefined) return known;
    const [, , , , QueueOwnerAWSAccountId, QueueName] = queueArn.split(":");
    const { QueueUrl = "" } = await this.#client.send(
      new GetQueueUrlCommand({ QueueName, QueueOwnerAWSAccountId }),
    );
    this.#urls.set(queueArn, QueueUrl);
    return QueueUrl;
  }
}

/** Two characters that JSON leaves as they are, and that queues refuse as no XML could hold them. */
const plain = (body: string): string =>
  body.replace(/[\uFFFE\uFFFF]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16)}`);

/** What the service refuses would be refused again; what is busy, slow or away would not. */
function isRefusal(cause: unknown): boolean {
  if (!(cause instanceof Error) || !("$metadata" in cause)) return false;
  const { $metadata: about } = cause;
  const status =
    typeof about === "object" && about !== null && "httpStatusCode" in about
      ? Number(about.httpStatusCode)
      : 0;
  return status >= 400 && status < 500 && status !== 429 && !/thrott/i.test(cause.name);
}

function notSent(queueArn: string, cause: unknown): EngineError {
  return new EngineError("queue/send-failed", {
    happened: "A queue of yours did not take a task",
    where: `queue ${queueArn}; ${cause instanceof Error ? cause.message : String(cause)}`,
    fix: "What sent it is repeated. If this goes on, look at the queue.",
    retryable: true,
    cause,
  });
}
