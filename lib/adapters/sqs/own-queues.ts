import { GetQueueUrlCommand, SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { EngineError } from "../../ports/engine-error.ts";
import type { OwnQueues } from "../../ports/own-queues.ts";
import { placeOfQueue, type QueuePlace } from "../../ports/queue-arn.ts";
import { delaySeconds } from "./send.ts";

/** The user's SQS queues: those that the installation is configured with, and no others. */
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

  async problemOf(queueArn: string): Promise<string | undefined> {
    if (!this.allows(queueArn)) return "this installation was not deployed with it";
    const place = await this.#placeOf(queueArn);
    if ("problem" in place) return place.problem;
    try {
      await this.#findUrl(queueArn, place);
      return undefined;
    } catch (cause) {
      // Only the error's name: its message would show roles and accounts to the caller.
      if (isRefusal(cause)) return `SQS answers ${nameOf(cause)}`;
      throw notAsked(queueArn, cause);
    }
  }

  async send(queueArn: string, body: string, delayMs: number): Promise<"sent" | "refused"> {
    // It may have been allowed when it was configured, and no longer be.
    if (!this.allows(queueArn)) return "refused";
    const place = await this.#placeOf(queueArn);
    if ("problem" in place) return "refused";
    try {
      const QueueUrl = this.#urls.get(queueArn) ?? (await this.#findUrl(queueArn, place));
      // Without a delay of its own a message gets the queue's default delay.
      const delay = delayMs > 0 && { DelaySeconds: delaySeconds(delayMs) };
      await this.#client.send(
        new SendMessageCommand({ QueueUrl, MessageBody: plain(body), ...delay }),
      );
      return "sent";
    } catch (cause) {
      if (isRefusal(cause)) return "refused";
      throw notSent(queueArn, cause);
    }
  }

  async #placeOf(queueArn: string): Promise<ReturnType<typeof placeOfQueue>> {
    return placeOfQueue(queueArn, await this.#client.config.region());
  }

  async #findUrl(queueArn: string, { account, name }: QueuePlace): Promise<string> {
    const { QueueUrl = "" } = await this.#client.send(
      new GetQueueUrlCommand({ QueueName: name, QueueOwnerAWSAccountId: account }),
    );
    this.#urls.set(queueArn, QueueUrl);
    return QueueUrl;
  }
}

/** Escapes two characters that JSON leaves as they are and that queues refuse as invalid XML. */
const plain = (body: string): string =>
  body.replace(/[\uFFFE\uFFFF]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16)}`);

/** A refusal would be repeated; a busy, slow or unreachable service may recover. */
function isRefusal(cause: unknown): boolean {
  if (!(cause instanceof Error) || !("$metadata" in cause)) return false;
  const { $metadata: about } = cause;
  const status =
    typeof about === "object" && about !== null && "httpStatusCode" in about
      ? Number(about.httpStatusCode)
      : 0;
  return status >= 400 && status < 500 && status !== 429 && !/thrott/i.test(cause.name);
}

const nameOf = (cause: unknown): string => (cause instanceof Error ? cause.name : "nothing");

const inWords = (cause: unknown): string =>
  cause instanceof Error ? `${cause.name}: ${cause.message}`.replace(/\.+$/, "") : String(cause);

function notSent(queueArn: string, cause: unknown): EngineError {
  return new EngineError("queue/send-failed", {
    happened: "A queue of yours did not take a task",
    where: `queue ${queueArn}; ${inWords(cause)}`,
    fix: "What sent it is repeated. If this goes on, look at the queue.",
    cause,
  });
}

function notAsked(queueArn: string, cause: unknown): EngineError {
  return new EngineError("queue/send-failed", {
    happened: "SQS did not answer whether the queue can be sent to",
    where: `queue ${queueArn}; ${inWords(cause)}`,
    fix: "Nothing was changed. Send the request again in a second.",
    cause,
  });
}
