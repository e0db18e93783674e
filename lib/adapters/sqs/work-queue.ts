import type { SQSClient } from "@aws-sdk/client-sqs";
import type { Blobs } from "../../ports/blobs.ts";
import type { WorkMessage } from "../../ports/message.ts";
import type { Meter } from "../../ports/meter.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import { packMessage } from "./body.ts";
import { send } from "./send.ts";

type Options = Readonly<{ client: SQSClient; queueUrl: string; blobs: Blobs; meter?: Meter }>;

/** The work queue on SQS; the bus delivers accepted broadcasts to the same queue. */
export class SqsWorkQueue implements WorkQueue {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async send(message: WorkMessage, afterMs = 0): Promise<void> {
    const { blobs, ...queue } = this.#options;
    const body = await packMessage(message, blobs);
    await send(queue, { body, group: message.tenant, afterMs });
  }
}
