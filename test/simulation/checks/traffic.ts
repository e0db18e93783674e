// What was broadcast, sent and kept in a world, read from the stored bytes and from what callers
// sent: the engine is not used here. This gives the facts that may reach a wait, and which waits
// must, may and did receive them.
import type { Json, Variables } from "../../../lib/definition/json.ts";
import type { Fact } from "../../../lib/kernel/fact.ts";
import type { Instance, Ticket } from "../../../lib/kernel/instance.ts";
import type { QueuedEvent } from "../../../lib/kernel/queued-event.ts";
import type { Item } from "../../../lib/ports/store.ts";
import { TimerStarts } from "./timer-starts.ts";

/** Something that got a number among all of its name. */
export type Numbered = Readonly<{
  id: string;
  topic: Readonly<{ kind: "signal" | "event"; name: string }>;
  seq: number;
  payload: Json;
  at: number;
  expiresAt?: number;
  /** Of an event: it has a single recipient. */
  once: boolean;
  /** Which later waits get it, besides those open when it is accepted. */
  mode: "AfterWait" | "AfterCreate" | "All";
}>;

/** A message as a caller sends it. */
export type Sent = Readonly<{
  name: string;
  key: string;
  messageId: string;
  payload: Variables;
  timeToLiveMs: number;
}>;

/** An event for one instance, as a caller sends it. */
export type Targeted = Readonly<{ target: string; id: string; name: string; payload: Json }>;

export type Mailbox = Readonly<{
  subs: readonly Readonly<{ processId: string; instanceId: string; ticket: string }>[];
  bufs: readonly Readonly<{ mid: string; expiresAt: number; for?: readonly unknown[] }>[];
  ids: readonly Readonly<{ mid: string }>[];
}>;

export type Letter = Readonly<{ id: string; name: string; target: string; replays: number }>;

type Box = Readonly<{ name: string; key: string }>;

/** Everything that was sent, from the first action on. */
export class Traffic {
  /** Timer starts. */
  readonly timerStarts = new TimerStarts();
  /** Counts the checks of the store: what an earlier one saw was there before. */
  turn = 0;
  readonly broadcasts = new Map<string, Numbered>();
  /** Events that were kept at any time, by name and number. */
  readonly kept = new Map<string, Numbered>();
  /** When an event that was kept was first seen. */
  readonly firstSeen = new Map<string, number>();
  /** Ids of broadcast events that were accepted. */
  readonly acceptedEvents = new Set<string>();
  readonly letters = new Map<string, Letter>();
  readonly sent: Sent[] = [];
  readonly targeted: Targeted[] = [];
  /** Messages that arrived in a mailbox, in order, and when. */
  readonly arrivals = new Map<string, Map<string, number>>();
  /** When a kept message expires. */
  readonly expiries = new Map<string, number>();
  readonly #heads = new Map<string, number>();
  readonly #latest = new Map<string, Readonly<{ state: string; version: number }>>();
  /** For messages that had expired before they were kept. */
  readonly #worthless = new Map<string, number>();
  /** Messages that had expired by the clock of the host that stored them: they were not kept. */
  readonly #expiredOnArrival = new Set<string>();
  readonly #changes = new Map<string, number>();
  readonly #lookedAfter = new Set<string>();
  /** Every write creates a new item object. */
  readonly #seen = new WeakSet<Item>();

  /** A sweep will handle this broadcast, because the bus refused it. */
  isLookedAfter(broadcastId: string): boolean {
    return this.#lookedAfter.has(broadcastId);
  }

  /** Checks everything stored; returns what is new, except instances. */
  observe(items: readonly Item[]): readonly string[] {
    this.turn += 1;
    const changes: string[] = [];
    for (const item of items) {
      if (this.#seen.has(item)) continue;
      this.#seen.add(item);
      const { pk, sk } = item.key;
      const [, kind = "", ...names] = pk.split("#");
      if (kind === "I") continue;
      this.#see(kind, names, item);
      if (kind === "D") this.timerStarts.see(item);
      if (kind !== "D")
        changes.push(
          `${pk} / ${sk} v${item.version}${item.lookAt === undefined ? "" : ` look at ${item.lookAt}`}`,
        );
    }
    return changes;
  }

  /** A caller is about to send a message. */
  noteSent(message: Sent, now: number): void {
    this.sent.push(message);
    const key = `${boxName(message)} ${message.messageId}`;
    this.#worthless.set(key, now + message.timeToLiveMs + LONGEST_CALL_MS);
  }

  /** Whether a message need not be delivered any more. */
  isOver(box: string, mid: string, now: number): boolean {
    const key = `${box} ${mid}`;
    if (this.#expiredOnArrival.has(key)) return true;
    const until = this.expiries.get(key) ?? this.#worthless.get(key);
    return (until ?? Number.POSITIVE_INFINITY) <= now;
  }

  /** How many broadcasts a topic has had. */
  headOf(kind: "signal" | "event", name: string): number {
    return this.#heads.get(`${kind} ${name}`) ?? 0;
  }

  /** How many each topic has had. */
  heads(): ReadonlyMap<string, number> {
    return new Map(this.#heads);
  }

  /** The mailbox of a message; every caller gives its messages unique ids. */
  boxOf(messageId: string): string {
    const sent = this.sent.find((it) => it.messageId === messageId);
    return sent ? boxName(sent) : "";
  }

  eventOf(id: string, seq: number): Numbered | undefined {
    const isThis = (it: Numbered) => it.topic.kind === "event" && it.id === id && it.seq === seq;
    return [...this.broadcasts.values(), ...this.kept.values()].find(isThis);
  }

  /** Everything that may start a definition by this name. */
  triggersOf(
    kind: "signal" | "message",
    name: string,
  ): readonly Readonly<{ source: string; payload: Variables }>[] {
    if (kind === "message") {
      return this.sent
        .filter((it) => it.name === name)
        .map(({ messageId, payload }) => ({ source: messageId, payload }));
    }
    return this.#numbered("signal", name).map(({ id, payload }) => ({
      source: id,
      payload: object(payload),
    }));
  }

  /** The current version of a definition, and whether it is enabled. */
  latestOf(definitionId: string): Readonly<{ state: string; version: number }> | undefined {
    return this.#latest.get(definitionId);
  }

  /** How often a definition was deployed, enabled, disabled or undeployed. */
  changesOf(definitionId: string): number {
    return this.#changes.get(definitionId) ?? 0;
  }

  /** Facts that may reach a wait, whether they should or not. */
  factsFor(ticket: Ticket, instance: Instance): readonly Fact[] {
    const { id } = ticket;
    switch (ticket.on) {
      case "signal":
        return this.#numbered("signal", ticket.name).map(({ id: broadcastId, seq, payload }) => {
          return {
            kind: "signal-received",
            ticket: id,
            broadcastId,
            seq,
            payload: object(payload),
          };
        });
      case "message":
        return this.sent
          .filter(({ name, key }) => name === ticket.name && key === ticket.key)
          .map(({ messageId, payload }) => {
            return { kind: "message-received", ticket: id, messageId, payload };
          });
      case "event":
        return [
          ...this.#numbered("event", ticket.name).map(({ id: eventId, seq, payload }): Fact => {
            return { kind: "event-received", ticket: id, eventId, seq, payload };
          }),
          ...instance.inbox
            .filter(({ name }) => name === ticket.name)
            .map(({ id: eventId, payload }): Fact => {
              return { kind: "event-received", ticket: id, eventId, payload };
            }),
        ];
      case "child":
      case "continuation":
      case "family":
      case "incident":
      case "task":
      case "timer":
        return [];
    }
  }

  /** Events that were sent to this instance; the request adds to them what was stored. */
  sentTo(instance: Instance, after: Instance): readonly Fact[] {
    return this.targeted
      .filter(({ target }) => target === instance.id)
      .map(({ id, name, payload }) => {
        const { lastNow: at } = after;
        const kept = after.tickets.flatMap(eventsKeptBy);
        const stored = [...after.inbox, ...kept].find((queued) => queued.id === id);
        const dummy: QueuedEvent = {
          id,
          name,
          payload,
          at,
          expiresAt: (at + 1) as QueuedEvent["expiresAt"],
          onTargetTerminated: "discard",
        };
        return { kind: "event-sent", event: { ...(stored ?? dummy), id, name, payload } };
      });
  }

  #numbered(kind: "signal" | "event", name: string): readonly Numbered[] {
    const isWanted = ({ topic }: Numbered) => topic.kind === kind && topic.name === name;
    const broadcasts = [...this.broadcasts.values()].filter(isWanted);
    const known = new Set(broadcasts.map(({ seq }) => seq));
    const kept = [...this.kept.values()].filter((it) => isWanted(it) && !known.has(it.seq));
    return [...broadcasts, ...kept];
  }

  #see(kind: string, names: readonly string[], item: Item): void {
    const { sk } = item.key;
    const [name = "", second = ""] = names;
    if ((kind === "G" || kind === "Y") && sk === "H") {
      this.#heads.set(`${kind === "G" ? "signal" : "event"} ${name}`, parseHead(item).seq);
    }
    if (kind === "B" && sk === "H") {
      this.broadcasts.set(name, parseBroadcast(item));
      if (item.lookAt !== undefined) this.#lookedAfter.add(name);
    }
    if (kind === "Y" && sk.startsWith("E#")) {
      const event = parseKept(item);
      const key = `${name} ${event.seq}`;
      this.kept.set(key, event);
      if (!this.firstSeen.has(key)) this.firstSeen.set(key, this.turn);
    }
    if (kind === "V") this.acceptedEvents.add(name);
    if (kind === "M") this.#seeMailbox({ name, key: second }, parseMailbox(item));
    if (kind === "X") this.letters.set(name, parseLetter(item));
    if (kind === "D" && sk === "LATEST") {
      this.#latest.set(name, parseLatest(item));
      this.#changes.set(name, this.changesOf(name) + 1);
    }
  }

  #seeMailbox(box: Box, { ids, bufs }: Mailbox): void {
    const arrived = this.arrivals.get(boxName(box)) ?? new Map<string, number>();
    for (const { mid } of ids.filter((known) => !arrived.has(known.mid))) {
      arrived.set(mid, this.turn);
      const isKept = bufs.some((message) => message.mid === mid);
      if (!isKept && this.#isShortLived(box, mid))
        this.#expiredOnArrival.add(`${boxName(box)} ${mid}`);
    }
    this.arrivals.set(boxName(box), arrived);
    for (const { mid, expiresAt } of bufs) this.expiries.set(`${boxName(box)} ${mid}`, expiresAt);
  }

  #isShortLived({ name, key }: Box, mid: string): boolean {
    return this.sent.some(
      (it) =>
        it.messageId === mid &&
        it.name === name &&
        it.key === key &&
        it.timeToLiveMs <= LONGEST_JUMP_MS,
    );
  }
}

/** The clock of a host may jump by this much. */
const LONGEST_JUMP_MS = 60_000;

/** Clocks are off by seconds. */
const LONGEST_CALL_MS = 10_000;

export const boxName = ({ name, key }: Box): string => `${name} ${key}`;

const object = (payload: Json): Variables => (payload ?? {}) as Variables;

const textOf = ({ body }: Item): string => new TextDecoder().decode(body);

const parseHead = (item: Item) => JSON.parse(textOf(item)) as { seq: number };

export const parseMailbox = (item: Item) => JSON.parse(textOf(item)) as Mailbox;

const parseLatest = (item: Item) => JSON.parse(textOf(item)) as { state: string; version: number };

const parseLetter = (item: Item) => JSON.parse(textOf(item)) as Letter;

function parseBroadcast(item: Item): Numbered {
  const { keptFor, ...stored } = JSON.parse(textOf(item)) as Omit<Numbered, "mode" | "once"> & {
    keptFor?: "AfterCreate" | "All";
  };
  return { ...stored, once: false, mode: keptFor ?? "AfterWait" };
}

function parseKept(item: Item): Numbered {
  const { name, ...stored } = JSON.parse(textOf(item)) as Omit<Numbered, "topic"> & {
    name: string;
  };
  return { ...stored, topic: { kind: "event", name } };
}

/** An event whose step could not be taken. */
function eventsKeptBy(ticket: Ticket): readonly QueuedEvent[] {
  const fact = ticket.on === "incident" ? ticket.kept?.fact : undefined;
  return fact?.kind === "event-sent" ? [fact.event] : [];
}
