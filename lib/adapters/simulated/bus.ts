import type { Announcement, Broadcast, Bus } from "../../ports/bus.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";

/** Where a call stops until the simulated world continues it. */
export type BusPoint = "publish:before" | "publish:after" | "announce:before" | "announce:after";

/** What a world may answer at publish:before. */
export type BusFault =
  /** Refused, retries included. */
  | Readonly<{ fault: "refused" }>
  /** Accepted, but the answer says that it was not. */
  | Readonly<{ fault: "unanswered" }>
  /** Accepted, and delivered twice. */
  | Readonly<{ fault: "duplicated" }>
  /** Accepted, and delivered later. */
  | Readonly<{ fault: "delayed"; byMs: number }>;

/** How a world takes part: called at every point with what is published or announced. */
export type BusWorld = Readonly<{
  turn?: (point: BusPoint, what: Broadcast | Announcement) => Promise<BusFault | undefined>;
}>;

/** A bus that delivers broadcasts to the work queue when the world says so. */
export class SimulatedBus implements Bus {
  readonly #work: WorkQueue;
  readonly #turn: BusWorld["turn"];
  readonly #announced: Announcement[] = [];

  constructor({ work, turn }: BusWorld & Readonly<{ work: WorkQueue }>) {
    this.#work = work;
    this.#turn = turn;
  }

  /** Everything that was announced, in order. */
  get announced(): readonly Announcement[] {
    return this.#announced;
  }

  async publish(broadcast: Broadcast): Promise<boolean> {
    const fault = await this.#turn?.("publish:before", broadcast);
    if (fault?.fault !== "refused") await this.#bring(broadcast, fault);
    await this.#turn?.("publish:after", broadcast);
    return fault?.fault !== "refused" && fault?.fault !== "unanswered";
  }

  async announce(announcement: Announcement): Promise<void> {
    await this.#turn?.("announce:before", announcement);
    this.#announced.push(announcement);
    await this.#turn?.("announce:after", announcement);
  }

  async #bring({ tenant, broadcastId }: Broadcast, fault: BusFault | undefined): Promise<void> {
    const message = { kind: "broadcast", tenant, broadcastId } as const;
    await this.#work.send(message, fault?.fault === "delayed" ? fault.byMs : 0);
    if (fault?.fault === "duplicated") await this.#work.send(message);
  }
}
