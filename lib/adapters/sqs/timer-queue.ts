import type { SQSClient } from "@aws-sdk/client-sqs";
import type { TimerMessage, TimerStartMessage } from "../../ports/message.ts";
import { messageText } from "../../ports/message-text.ts";
import type { Meter } from "../../ports/meter.ts";
import { send } from "./send.ts";

type Options = Readonly<{ client: SQSClient; queueUrl: string; meter?: Meter }>;

/**
 * Holds timers that are due soon; the longest delay is a quarter of an hour, then they are
 * re-checked.
 */
export class TimerQueue {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async send(message: TimerMessage | TimerStartMessage, afterMs: number): Promise<void> {
    const body = messageText(message);
    await send(this.#options, { body, group: message.tenant, afterMs });
  }
}
