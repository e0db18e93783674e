// The user's queues in memory, for simulated worlds. A send either queues its text, or returns that
// it was refused, or throws; after a throw the outcome is unknown.

import { instantFrom } from "../../definition/time/instant.ts";
import type { Clock } from "../../ports/clock.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { OwnQueues } from "../../ports/own-queues.ts";
import { placeOfQueue } from "../../ports/queue-arn.ts";
import { type QueueFault, SimulatedQueue } from "./queue.ts";

/** Where a send stops until the simulated world continues it. */
export type OwnQueuePoint = "send:before" | "send:after";

/** What a world may answer at send:before. */
export type OwnQueueFault =
  | QueueFault
  /** The queue refuses it. */
  | Readonly<{ fault: "refused" }>
  /** It is accepted, but the sender gets an error. */
  | Readonly<{ fault: "unanswered" }>
  /** It is lost, and the sender gets an error. */
  | Readonly<{ fault: "lost" }>;

type Options = Readonly<{
  clock: Pick<Clock, "now">;
  region: string;
  /** The queues that exist, by ARN. */
  there: readonly string[];
  /** The queues that the installation is configured with; all existing ones by default. */
  allowed?: readonly string[];
  /** Bytes that a queue takes at the most, by its ARN. */
  maxBytes?: Readonly<Record<string, number>>;
  turn?: (point: OwnQueuePoint) => Promise<OwnQueueFault | undefined>;
}>;

/** Queues in memory, whose every answer the world chooses. */
export class SimulatedOwnQueues implements OwnQueues {
  readonly #options: Options;
  readonly #allowed: ReadonlySet<string>;
  readonly #queues: ReadonlyMap<string, SimulatedQueue<string>>;

  constructor(options: Options) {
    const { clock, there, allowed = there } = options;
    this.#options = options;
    this.#allowed = new Set(allowed);
    this.#queues = new Map(there.map((arn) => [arn, new SimulatedQueue<string>({ clock })]));
  }

  /** The messages of a queue, for its consumers. */
  queue(queueArn: string): SimulatedQueue<string> {
    const queue = this.#queues.get(queueArn);
    if (queue === undefined) throw new Error(`there is no queue ${queueArn}`);
    return queue;
  }

  allows(queueArn: string): boolean {
    return this.#allowed.has(queueArn);
  }

  async problemOf(queueArn: string): Promise<string | undefined> {
    if (!this.allows(queueArn)) return "this installation was not deployed with it";
    const place = placeOfQueue(queueArn, this.#options.region);
    if ("problem" in place) return place.problem;
    return this.#queues.has(queueArn) ? undefined : "there is no such queue";
  }

  async send(queueArn: string, body: string, delayMs: number): Promise<"sent" | "refused"> {
    const { turn, clock } = this.#options;
    const fault = await turn?.("send:before");
    if (fault?.fault === "lost") throw unanswered(queueArn);
    const isRefused = fault?.fault === "refused" || !(await this.#takes(queueArn, body));
    if (!isRefused) {
      const lateMs = fault?.fault === "delayed" ? fault.byMs : 0;
      const notBefore = instantFrom(clock.now() + delayMs + lateMs);
      const copies = fault?.fault === "duplicated" ? 2 : 1;
      for (let n = 0; n < copies; n++) await this.queue(queueArn).send(body, notBefore);
    }
    await turn?.("send:after");
    if (fault?.fault === "unanswered") throw unanswered(queueArn);
    return isRefused ? "refused" : "sent";
  }

  async #takes(queueArn: string, body: string): Promise<boolean> {
    const most = this.#options.maxBytes?.[queueArn] ?? Infinity;
    return (await this.problemOf(queueArn)) === undefined && Buffer.byteLength(body) <= most;
  }
}

function unanswered(queueArn: string): EngineError {
  return new EngineError("queue/send-failed", {
    happened: "A queue did not answer",
    where: `queue ${queueArn}`,
    fix: "What sent to it is repeated.",
  });
}
