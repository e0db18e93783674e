// Which waits received what was broadcast and sent, and which had to. Derived from the facts that
// explain what was stored, and from the numbers that waits were registered with.
//
// 1. A wait may receive a broadcast whose number is above the one it was registered with, unless
//    its own path threw it. It must, if it is still open when everything rests.
// 2. The number it was registered with is one that the head had between the previous image and the
//    commit: a wait from before a broadcast was accepted is a recipient, a later one is not.
// 3. No wait receives anything twice. A message is taken once per process id, and by more than one
//    of them only if all waited when it arrived. An event for a single recipient has one.
// 4. Messages of a mailbox are taken in the order in which they arrived.
// 5. A broadcast or message starts a definition once, a signal only while it is enabled.
import type { Definition } from "../../../lib/definition/definition.ts";
import type { Fact } from "../../../lib/kernel/fact.ts";
import type { Instance, Ticket } from "../../../lib/kernel/instance.ts";
import type { Mode } from "../world/mode.ts";
import { isSame } from "./oracle.ts";
import type { Traffic } from "./traffic.ts";
import { must } from "./violation.ts";

/** A message that a wait has taken, or that started a definition. */
export type Taken = Readonly<{
  box: string;
  mid: string;
  processId: string;
  by: string;
  openedAt: number;
}>;

export class Reception {
  readonly #traffic: Traffic;
  readonly #mode: Mode;
  /** Broadcast id to its recipients: `<instance> <ticket>`. */
  readonly receivers = new Map<string, Set<string>>();
  /** Broadcast or message id to the instances that it started. */
  readonly started = new Map<string, Set<string>>();
  readonly messages: Taken[] = [];
  /** Name and number of an event to the instances that took it. */
  readonly eventTakers = new Map<string, Set<string>>();
  readonly #opened = new Map<string, number>();
  /** The number of each topic when an instance was last stored. */
  readonly #headsThen = new Map<string, ReadonlyMap<string, number>>();
  readonly #read = new Set<string>();

  constructor(traffic: Traffic, mode: Mode) {
    this.#traffic = traffic;
    this.#mode = mode;
  }

  /** A step was stored: its facts, and the waits that it opened. */
  stored(facts: readonly Fact[], before: Instance, after: Instance, definition: Definition): void {
    for (const fact of facts) this.#took(fact, before, after, definition);
    for (const ticket of after.tickets) {
      const earlier = before.tickets.find(({ id }) => id === ticket.id);
      if (earlier === undefined) this.#opened.set(`${after.id} ${ticket.id}`, this.#traffic.turn);
      this.#checkRow(after, ticket, earlier);
    }
    this.#headsThen.set(after.id, this.#traffic.heads());
  }

  /** Facts that start an instance of this definition, and their source. */
  startsOf({ id, startEvents }: Definition): readonly Readonly<{ fact: Fact; source: string }>[] {
    return startEvents.flatMap((event) => {
      if (event.kind === "none") return [];
      if (event.kind === "timer") {
        const input = { variables: {}, trigger: { element: event.element, payload: {} } };
        return [{ fact: { kind: "started", input } as const, source: `${id} ${event.element}` }];
      }
      const { element, name } = event;
      return this.#traffic.triggersOf(event.kind, name).map(({ source, payload }) => {
        const input = { variables: {}, trigger: { element, payload } };
        return { fact: { kind: "started", input } as const, source: `${id} ${source}` };
      });
    });
  }

  /** When a wait was first seen, by the checks of the store. */
  openedAt(instanceId: string, ticket: string): number {
    return this.#opened.get(`${instanceId} ${ticket}`) ?? 0;
  }

  /** Whether a wait has received a broadcast. */
  has(broadcastId: string, instanceId: string, ticket: string): boolean {
    return this.receivers.get(broadcastId)?.has(`${instanceId} ${ticket}`) === true;
  }

  #took(fact: Fact, before: Instance, after: Instance, definition: Definition): void {
    const { id } = after;
    switch (fact.kind) {
      case "started":
        this.#began(fact, after, definition);
        break;
      case "signal-received":
        this.#tookSignal(fact, before, id);
        break;
      case "message-received":
        this.#tookMessage(fact, after, definition);
        break;
      case "event-received":
        this.#tookEvent(fact, id);
        break;
      case "cancel-requested":
      case "child-ended":
      case "child-refused":
      case "child-started":
      case "continued":
      case "event-sent":
      case "incident-resolved":
      case "task-claimed":
      case "task-assigned":
      case "task-completed":
      case "task-failed":
      case "timer-due":
      case "variables-patched":
        break;
    }
  }

  #tookSignal(
    { ticket: wanted, broadcastId, seq }: Extract<Fact, { kind: "signal-received" }>,
    { tickets }: Instance,
    id: string,
  ): void {
    const ticket = tickets.find((open) => open.id === wanted);
    const who = `${id} ${wanted}`;
    must(ticket?.on === "signal" && ticket.row !== undefined, () => `${who} had no row`);
    const { row, notIds = [] } = ticket;
    must(
      row !== undefined && row.after < seq,
      () =>
        `${who} waits for what follows ${row?.after} and received ${broadcastId}, number ${seq}`,
    );
    must(!notIds.includes(broadcastId), () => `${who} received ${broadcastId}, thrown by itself`);
    add(this.receivers, broadcastId, who, () => `${who} received ${broadcastId} twice`);
  }

  #tookMessage(
    { ticket: wanted, messageId: mid }: Extract<Fact, { kind: "message-received" }>,
    after: Instance,
    { id: processId }: Definition,
  ): void {
    const by = `${after.id} ${wanted}`;
    const openedAt = this.#opened.get(by) ?? this.#traffic.turn;
    const box = this.#traffic.boxOf(mid);
    const expiresAt = this.#traffic.expiries.get(`${box} ${mid}`) ?? Number.POSITIVE_INFINITY;
    must(after.lastNow < expiresAt, () => `${by} took ${mid} after it had expired`);
    this.#takeOnce({ box, mid, processId, by, openedAt });
  }

  #takeOnce(taken: Taken): void {
    const { box, mid, processId, by } = taken;
    const earlier = this.messages.find(
      (it) => it.box === box && it.mid === mid && it.processId === processId,
    );
    must(earlier === undefined, () => `${mid} was taken by ${earlier?.by}, then by ${by}`);
    this.messages.push(taken);
  }

  #tookEvent(
    { eventId, seq, ticket }: Extract<Fact, { kind: "event-received" }>,
    id: string,
  ): void {
    if (seq === undefined) {
      must(!this.#read.has(`${id} ${eventId}`), () => `${id} read ${eventId} twice`);
      this.#read.add(`${id} ${eventId}`);
      return;
    }
    const event = this.#traffic.eventOf(eventId, seq);
    must(event !== undefined, () => `${id} took the event ${eventId}, which never was`);
    const key = `${event.topic.name} ${seq}`;
    add(this.eventTakers, key, id, () => `${id} took ${eventId} twice`);
    add(this.receivers, eventId, `${id} ${ticket}`, () => `${ticket} took ${eventId} twice`);
    const takers = this.eventTakers.get(key)?.size ?? 0;
    must(!event.once || takers === 1, () => `${takers} took ${eventId}, which only one may have`);
  }

  #began(fact: Extract<Fact, { kind: "started" }>, after: Instance, definition: Definition): void {
    const { trigger } = fact.input;
    if (trigger === undefined) return;
    const timer = definition.startEvents.find(({ element }) => element === trigger.element);
    if (timer?.kind === "timer") {
      const latest = this.#traffic.latestOf(definition.id);
      this.#traffic.timerStarts.began(after, definition, timer, latest);
      return;
    }
    const starts = this.startsOf(definition).filter((it) => isSame(it.fact, fact));
    const [source] = starts.map((it) => it.source);
    must(source !== undefined, () => `${after.id} was started by nothing`);
    add(this.started, source, after.id, () => `${after.id} began twice`);
    const count = this.started.get(source)?.size ?? 0;
    must(count === 1, () => `${source} began ${count} instances`);
    const event = definition.startEvents.find(({ element }) => element === trigger.element);
    if (event?.kind !== "signal") return;
    const latest = this.#traffic.latestOf(definition.id);
    must(
      latest?.state === "enabled" && latest.version === after.definition.version,
      () => `${after.id} of version ${after.definition.version} began while ${show(latest)}`,
    );
  }

  #checkRow(after: Instance, ticket: Ticket, earlier: Ticket | undefined): void {
    if (ticket.on !== "signal" && ticket.on !== "event") return;
    const { row, name, on } = ticket;
    const who = `${after.id} ${ticket.id}`;
    must(row !== undefined, () => `${who} has no row`);
    if (earlier && "row" in earlier && show(earlier.row) === show(row)) return;
    const now = this.#traffic.headOf(on, name);
    const least = this.#headsThen.get(after.id)?.get(`${on} ${name}`) ?? 0;
    const lowest = this.#mode === "memory" ? now : least;
    must(
      row.after >= lowest && row.after <= now,
      () => `${who} was registered with ${row.after} while the head went from ${lowest} to ${now}`,
    );
  }
}

/** Records it; throws if it was recorded before. */
function add(
  sets: Map<string, Set<string>>,
  key: string,
  value: string,
  problem: () => string,
): void {
  const set = sets.get(key) ?? new Set<string>();
  must(!set.has(value), problem);
  set.add(value);
  sets.set(key, set);
}

const show = (value: unknown): string => JSON.stringify(value);
