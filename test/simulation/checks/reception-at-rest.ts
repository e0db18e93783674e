// Which waits should have received something when everything rests, and what must not be lost.
import type { Instance, Ticket } from "../../../lib/kernel/instance.ts";
import type { Item } from "../../../lib/ports/store.ts";
import type { Stage } from "../world/stage.ts";
import type { Reception, Taken } from "./reception.ts";
import { boxName, type Mailbox, type Numbered, parseMailbox, type Traffic } from "./traffic.ts";
import { must } from "./violation.ts";

/** Throws if a wait is open in vain when everything rests. */
export function checkReceived(
  traffic: Traffic,
  reception: Reception,
  instances: readonly Instance[],
): void {
  checkOrder(traffic, reception.messages);
  for (const instance of instances) {
    for (const ticket of instance.tickets) {
      if (ticket.on !== "signal" && ticket.on !== "event") continue;
      for (const broadcast of traffic.broadcasts.values()) {
        if (!isMeant(broadcast, ticket, instance)) continue;
        const hasIt =
          ticket.on === "signal"
            ? reception.has(broadcast.id, instance.id, ticket.id)
            : reception.eventTakers.get(`${ticket.name} ${broadcast.seq}`)?.has(instance.id);
        must(
          hasIt === true,
          () =>
            `${broadcast.id}, number ${broadcast.seq}, never reached ${ticket.id} of ${instance.id}`,
        );
      }
    }
  }
}

function isMeant(
  { topic, seq, id, mode, at }: Numbered,
  ticket: Extract<Ticket, { on: "signal" | "event" }>,
  { startedAt }: Instance,
): boolean {
  if (topic.kind !== ticket.on || topic.name !== ticket.name) return false;
  if (mode === "All") return true;
  if (mode === "AfterCreate" && startedAt <= at) return true;
  const isThrownByItself = ticket.on === "signal" && ticket.notIds?.includes(id) === true;
  return (ticket.row?.after ?? 0) < seq && !isThrownByItself;
}

function checkOrder({ arrivals }: Traffic, messages: readonly Taken[]): void {
  for (const [box, arrived] of arrivals) {
    const order = [...arrived.keys()];
    const taken = messages.filter((it) => it.box === box);
    for (const processId of new Set(taken.map((it) => it.processId))) {
      const mids = taken.filter((it) => it.processId === processId).map(({ mid }) => mid);
      const sorted = mids.toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
      must(
        mids.join() === sorted.join(),
        () => `${processId} took ${mids.join(", ")}, which came as ${sorted.join(", ")}`,
      );
    }
    for (const { mid, by, openedAt } of taken) {
      const others = taken.filter((it) => it.mid === mid);
      const cameAt = arrived.get(mid) ?? 0;
      must(
        others.length === 1 || openedAt <= cameAt,
        () => `${by} took ${mid}, which came before it waited and which another has`,
      );
    }
  }
}

/** Throws when something was lost, or is kept although a wait matches it. */
export function checkKept(stage: Stage, items: readonly Item[]): void {
  const { traffic, reception } = stage;
  const waits = openWaits(stage);
  checkMailboxes(stage, items, waits);
  checkOnce(traffic, reception, items, waits);
  checkStarts(traffic, reception, items);
  const letters = [...traffic.letters.values()].map(({ id, target }) => {
    return `${id.split("~")[0]} for ${target}`;
  });
  must(new Set(letters).size === letters.length, () => `buried twice: ${letters.join(", ")}`);
}

type Wait = Readonly<{ instance: Instance; ticket: Ticket; openedAt: number }>;

function openWaits({ invariants, reception }: Stage): readonly Wait[] {
  return [...invariants.lives.values()].flatMap(({ instance }) =>
    instance.tickets.map((ticket) => {
      return { instance, ticket, openedAt: reception.openedAt(instance.id, ticket.id) };
    }),
  );
}

/** Messages are taken, or kept until they expire; no open wait has a message to take. */
function checkMailboxes(
  { traffic, reception, now }: Stage,
  items: readonly Item[],
  waits: readonly Wait[],
): void {
  const boxes = new Map(
    items.flatMap((item): [string, Mailbox][] => {
      const [, kind, name = "", key = ""] = item.key.pk.split("#");
      return kind === "M" ? [[boxName({ name, key }), parseMailbox(item)]] : [];
    }),
  );
  for (const [box, arrived] of traffic.arrivals) {
    const bufs = boxes.get(box)?.bufs ?? [];
    for (const mid of arrived.keys()) {
      const isTaken = reception.messages.some((it) => it.box === box && it.mid === mid);
      const hasBegun = [...reception.started.keys()].some((it) => it.endsWith(` ${mid}`));
      const isKept = bufs.some((message) => message.mid === mid);
      const isOver = () => traffic.isOver(box, mid, now);
      must(isTaken || hasBegun || isKept || isOver(), () => `${mid} came to ${box} and is lost`);
    }
  }
  for (const { instance, ticket } of waits) {
    if (ticket.on !== "message") continue;
    const box = boxes.get(boxName(ticket));
    const sub = box?.subs.find((it) => it.instanceId === instance.id && it.ticket === ticket.id);
    must(sub !== undefined, () => `${ticket.id} of ${instance.id} is not in its mailbox`);
    const left = box?.bufs.filter(({ expiresAt }) => expiresAt > now) ?? [];
    must(left.length === 0, () => `${instance.id} waits and there is ${JSON.stringify(left)}`);
  }
}

/** An event for a single recipient is taken, or kept for a later wait. */
function checkOnce(
  { kept, firstSeen }: Traffic,
  { eventTakers }: Reception,
  items: readonly Item[],
  waits: readonly Wait[],
): void {
  for (const [key, event] of kept) {
    if (!event.once || (eventTakers.get(key)?.size ?? 0) > 0) continue;
    const { name } = event.topic;
    const isStored = items.some(
      (item) =>
        item.key.pk.endsWith(`#Y#${name}`) &&
        item.key.sk.endsWith(`${event.seq}`) &&
        item.key.sk.startsWith("E#"),
    );
    must(
      isStored || event.mode === "AfterWait",
      () => `${event.id} was to be kept, was not taken, and is gone`,
    );
    for (const { instance, ticket, openedAt } of waits) {
      if (ticket.on !== "event" || ticket.name !== name) continue;
      const mayTake = event.mode !== "AfterCreate" || instance.startedAt <= event.at;
      const waited = openedAt < (firstSeen.get(key) ?? 0);
      must(
        !(isStored ? mayTake : waited),
        () => `${instance.id} waits for ${name}, and ${event.id} was not taken`,
      );
    }
  }
}

/** A definition that was always enabled was started by every signal after it was deployed. */
function checkStarts(traffic: Traffic, { started }: Reception, items: readonly Item[]): void {
  for (const { key, body } of items) {
    const [, kind, name = ""] = key.pk.split("#");
    if (kind !== "G" || !key.sk.startsWith("D#")) continue;
    const row = parseStartRow(body);
    if (traffic.changesOf(row.d) > 1) continue;
    for (const { id, seq, topic } of traffic.broadcasts.values()) {
      if (topic.kind !== "signal" || topic.name !== name || seq <= row.s) continue;
      must(started.has(`${row.d} ${id}`), () => `${row.d} was not started by ${id}`);
    }
  }
}

function parseStartRow(body: Uint8Array): { d: string; s: number } {
  return JSON.parse(new TextDecoder().decode(body)) as { d: string; s: number };
}
