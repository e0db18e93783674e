/**
 * What waits draw from: heads of topics, mailboxes, kept events, children. A step decides with what
 * was read of them, and its commit holds only if that is still so; what a child has become it stays.
 */
import type { ChildFact } from "../../kernel/fact.ts";
import type { ChildTicket, Instance } from "../../kernel/instance.ts";
import { type Address, isCrowded, type Mailbox, subOf, withoutDead } from "../../kernel/mailbox.ts";
import type { JournalEntry } from "../../kernel/trail.ts";
import type { Topic } from "../../ports/bus.ts";
import type { EngineError } from "../../ports/engine-error.ts";
import { factOfChild } from "../rows/child.ts";
import { type KeptEvent, keptFor } from "../rows/event.ts";
import { lifeOf } from "../rows/life.ts";
import { boxName, readMailbox } from "../rows/mailbox.ts";
import { knownHeads, type ReadHead, readHead } from "../rows/topic-head.ts";
import { readJournal } from "../storage/chunks.ts";
import { instanceKey } from "../storage/keys.ts";
import { engineBusy } from "../storage/retrying.ts";
import { readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

/** What one step has read so far. */
export type Sources = Readonly<{
  /** The first read of a head counts for the whole step: later news does not mix in. */
  heads: Map<string, ReadHead>;
  /** Heads that need not be read. */
  known: ReadonlyMap<string, ReadHead>;
  boxes: Map<string, KnownBox>;
  kept: Map<string, readonly KeptEvent[]>;
  /** By ticket. */
  children: Map<string, ChildFact | undefined>;
  /** The whole journal of the instance as it is stored, by its id. */
  journals: Map<string, readonly JournalEntry[]>;
}>;

/** Mailboxes that were read before the step, by name. */
export type KnownBoxes = ReadonlyMap<string, KnownBox>;

/** A mailbox as one instance sees it. */
export type KnownBox = Readonly<{
  version: number;
  /** As it is stored, and without a wait of the same process id that is gone. */
  stored: Mailbox;
  mailbox: Mailbox;
  /** Another instance of the same process id waits there, or there is no room for another wait. */
  isTaken: boolean;
}>;

/** What a decision would have needed to know. */
export type Missing = Readonly<{
  heads: Map<string, Topic>;
  boxes: Map<string, Address>;
  kept: Set<string>;
  children: Map<string, ChildTicket>;
  /** The id of the instance, if its journal is wanted. */
  journals: Set<string>;
}>;

/** What a step begins with. */
export const firstSources = (world: World, boxes: KnownBoxes = new Map()): Sources => ({
  heads: new Map(),
  known: knownHeads(world),
  boxes: new Map(boxes),
  kept: new Map(),
  children: new Map(),
  journals: new Map(),
});

/** Tells whether another instance of the same process id waits for a message. */
export const isTakenIn =
  ({ boxes }: Sources) =>
  (name: string, key: string): boolean =>
    boxes.get(boxName({ name, key }))?.isTaken ?? false;

/** Adds what is missing to the sources. */
export async function readMissing(
  world: World,
  instance: Instance,
  sources: Sources,
  { heads, boxes, kept, children, journals }: Missing,
): Promise<void> {
  // Heads before kept events: what is accepted in between moves the head, and the commit notices.
  for (const [name, topic] of heads) sources.heads.set(name, await readHead(world, topic));
  for (const [name, at] of boxes) sources.boxes.set(name, await readBox(world, instance, at));
  for (const name of kept) sources.kept.set(name, await keptFor(world, name, instance));
  for (const [id, it] of children) {
    sources.children.set(id, await factOfChild(world, instance, it));
  }
  for (const id of journals) sources.journals.set(id, await readJournal(world, instance));
}

async function readBox(world: World, instance: Instance, address: Address): Promise<KnownBox> {
  const { version, mailbox: stored } = await readMailbox(world, address);
  const as = (mailbox: Mailbox, isTaken: boolean) => ({ version, stored, mailbox, isTaken });
  const sub = subOf(stored, instance.definition.id);
  if (sub === undefined) return as(stored, isCrowded(stored));
  if (sub.instanceId === instance.id) {
    const isOpen = instance.tickets.some(({ id }) => id === sub.ticket);
    return as(isOpen ? stored : withoutDead(stored, sub), false);
  }
  const key = instanceKey(world.settings.tenant, sub.instanceId);
  // Who has the place and cannot be read keeps it: it may wait there still.
  const life = await readable(world, key, () => lifeOf(world, sub));
  if (life === "unreadable") return as(stored, true);
  if (life.kind === "unsure") throw unsure(address);
  return life.kind === "waits" ? as(stored, true) : as(withoutDead(stored, sub), false);
}

/** Another transaction is being applied right now: this step is tried again. */
const unsure = ({ name, key }: Address): EngineError =>
  engineBusy(`message ${JSON.stringify(name)}, correlation key ${JSON.stringify(key)}`);
