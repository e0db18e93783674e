import { createHash } from "node:crypto";
import type { SQSClient } from "@aws-sdk/client-sqs";
import type { Blobs } from "../../ports/blobs.ts";
import type { Ids } from "../../ports/ids.ts";
import type { AnyParked } from "../../ports/message.ts";
import type { Meter } from "../../ports/meter.ts";
import type { Parking } from "../../ports/parking.ts";
import { packMessage } from "./body.ts";
import { send } from "./send.ts";

type Options = Readonly<{
  client: SQSClient;
  /** Of a FIFO queue. */
  queueUrl: string;
  ids: Ids;
  blobs: Blobs;
  meter?: Meter;
}>;

/** A FIFO queue with a group for each instance: one invocation at a time handles what it holds. */
export class SqsParking implements Parking {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Always under a new id: the queue would deduplicate a message that is parked again after it was
   * handled.
   */
  async park(message: AnyParked): Promise<void> {
    const { ids, blobs, ...queue } = this.#options;
    const body = await packMessage(message, blobs);
    await send(queue, { body, group: groupOf(message), id: ids.fresh() });
  }
}

/** Instance ids may be longer than a group's name, and hold characters that it may not. */
function groupOf({ tenant, instanceId }: AnyParked): string {
  return createHash("sha256").update(`${tenant}\0${instanceId}`).digest("hex");
}
