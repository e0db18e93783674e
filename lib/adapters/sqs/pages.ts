import type { SQSClient } from "@aws-sdk/client-sqs";
import type { Blobs } from "../../ports/blobs.ts";
import type { FanOutMessage } from "../../ports/message.ts";
import type { Meter } from "../../ports/meter.ts";
import type { Pages } from "../../ports/pages.ts";
import { packMessage } from "./body.ts";
import { send } from "./send.ts";

type Options = Readonly<{ client: SQSClient; queueUrl: string; blobs: Blobs; meter?: Meter }>;

/** The queue that the bus brings broadcasts to, and that carries their parts. */
export class SqsPages implements Pages {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async send(message: FanOutMessage, afterMs = 0): Promise<void> {
    const { blobs, ...queue } = this.#options;
    const body = await packMessage(message, blobs);
    await send(queue, { body, group: message.tenant, afterMs });
  }
}
