import {
  type EventBridgeClient,
  EventBridgeServiceException,
  PutEventsCommand,
  type PutEventsRequestEntry,
} from "@aws-sdk/client-eventbridge";
import type { Announcement, Broadcast, Bus } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import { EngineError } from "../../ports/engine-error.ts";
import { broadcastText } from "../../ports/message-text.ts";
import type { Meter } from "../../ports/meter.ts";

type Options = Readonly<{
  client: EventBridgeClient;
  busName: string;
  /** Whether announcements about instances are sent; each is an event. */
  announces: boolean;
  clock: Pick<Clock, "pause">;
  /** From 0 to 1; by chance when absent. */
  random?: () => number;
  meter?: Meter;
  /** The trace that the running code belongs to: broadcasts carry it (W3C traceparent). */
  traceparent?: () => string | undefined;
}>;

/** The source of the events; rules match it. */
const SOURCE = "fermata";
const TRIES = 4;
const FIRST_PAUSE_MS = 50;

/**
 * One event for each broadcast and announcement; payloads stay in the store, since an event has no
 * room.
 */
export class EventBridgeBus implements Bus {
  readonly announce?: (announcement: Announcement) => Promise<void>;
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
    if (options.announces) this.announce = (announcement) => this.#announce(announcement);
  }

  async publish(broadcast: Broadcast): Promise<boolean> {
    const text = broadcastText(broadcast, this.#options.traceparent?.());
    const failure = await this.#put("signal-accepted", text);
    if (failure?.isFinal) throw notTaken(`broadcast ${broadcast.broadcastId}`, failure);
    return failure === undefined;
  }

  async #announce(announcement: Announcement): Promise<void> {
    const failure = await this.#put(announcement.notice.type, JSON.stringify(announcement));
    if (failure) throw notTaken(`announcement ${announcement.id}`, failure);
  }

  /** The SDK retries failed calls; a call that succeeds may still have refused its event. */
  async #put(type: string, detail: string): Promise<Failure | undefined> {
    const { clock, random = Math.random } = this.#options;
    let failure = await this.#putOnce(type, detail);
    for (let tries = 1; failure?.isEntry && tries < TRIES; tries++) {
      await clock.pause(Math.ceil(random() * FIRST_PAUSE_MS * 2 ** tries));
      failure = await this.#putOnce(type, detail);
    }
    return failure;
  }

  async #putOnce(type: string, detail: string): Promise<Failure | undefined> {
    const { client, busName, meter } = this.#options;
    const entry = { EventBusName: busName, Source: SOURCE, DetailType: type, Detail: detail };
    try {
      const { Entries } = await client.send(new PutEventsCommand({ Entries: [entry] }));
      const [{ ErrorCode, ErrorMessage } = {}] = Entries ?? [];
      if (ErrorCode !== undefined) return failureOf(`${ErrorCode}: ${ErrorMessage}`);
    } catch (cause) {
      return { ...failureOf(String(cause)), isEntry: false, isFinal: isRefusal(cause), cause };
    }
    meter?.({ of: "eventbridge", events: billedEvents(entry) });
    return undefined;
  }
}

/** Why an event was not accepted: the entry or the whole call, permanently or for now. */
type Failure = Readonly<{ why: string; isEntry: boolean; isFinal: boolean; cause?: unknown }>;

const failureOf = (why: string): Failure => ({ why, isEntry: true, isFinal: false });

/** A retry would be refused as well: the request is wrong, not just throttled. */
function isRefusal(cause: unknown): boolean {
  if (!(cause instanceof EventBridgeServiceException) || cause.$fault !== "client") return false;
  return !/throttl|too ?many/i.test(cause.name);
}

/** One for every started 64 KB. */
function billedEvents({ Source, DetailType, Detail }: PutEventsRequestEntry): number {
  const bytes = Buffer.byteLength(`${Source}${DetailType}${Detail}`);
  return Math.max(1, Math.ceil(bytes / 65_536));
}

function notTaken(what: string, { why, cause }: Failure): EngineError {
  return new EngineError("bus/not-taken", {
    happened: "The bus did not take an event",
    where: `${what}; ${why}`,
    fix: "It is sent again. If this goes on, look at the function's permissions and at the throttles of the bus.",
    cause,
  });
}
