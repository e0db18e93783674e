/**
 * What waits draw from: heads of topics, mailboxes, kept events, children. A step decides with what
 * was read of them, and its commit holds only if that is still so; what a child has become it stays.
 */
import type { ChildFact } from "../../kernel/fact.ts";
import type { ChildTicket, Instance } from "../../kernel/instance.ts";
import type { Topic } from "../../ports/bus.ts";
import type { EngineError } from "../../ports/engine-error.ts";
import { factOfChild } from "../rows/child.ts";
import { type KeptEvent, keptFor } from "../rows/event.ts";
import { lifeOf } from "../rows/life.ts";
import {
  type Address,
  isCrowded,
  type Mailbox,
  readMailbox,
  subOf,
  withoutDead,
} from "../rows/mailbox.ts";
import { knownHeads, type ReadHead, readHead } from "../rows/topic-head.ts";
import { instanceKey } from "../storage/keys.ts";
import { engineBusy } from "../storage/retrying.ts";
import { readable } from "../storage/unreadable.ts";
import type { World } from "../world.ts";

export type Sources = Readonly<{
  /** The first look at a head counts for the whole step: what others learn later does not mix in. */
  heads: Map<string, ReadHead>;
  /** Heads that need not be read. */
  known: ReadonlyMap<string, ReadHead>;
  boxes: ReadonlyMap<string, KnownBox>;
  kept: ReadonlyMap<string, readonly KeptEvent[]>;
  /** By ticket. */
  children: ReadonlyMap<string, ChildFact | undefined>;
}>;

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
  heads: ReadonlyMap<string, Topic>;
  boxes: ReadonlyMap<string, Address>;
  kept: ReadonlySet<string>;
  children: ReadonlyMap<string, ChildTicket>;
}>;

/** What a step begins with. */
export const firstSources = (world: World, boxes: Sources["boxes"] = new Map()): Sources => ({
  heads: new Map(),
  known: knownHeads(world),
  boxes,
  kept: new Map(),
  children: new Map(),
});

/** Reads what is missing, and keeps what is known. */
export async function readSources(
  world: World,
  instance: Instance,
  known: Sources,
  { heads, boxes, kept, children }: Missing,
): Promise<Sources> {
  // Heads before kept events: what is accepted in between moves the head, and the commit notices.
  const moreHeads = await entriesOf(heads, (topic) => readHead(world, topic));
  const moreBoxes = await entriesOf(boxes, (address) => readBox(world, instance, address));
  const names = new Map([...kept].map((name) => [name, name] as const));
  const moreKept = await entriesOf(names, (name) => keptFor(world, name, instance));
  const moreChildren = await entriesOf(children, (it) => factOfChild(world, instance, it));
  return {
    ...known,
    heads: new Map([...known.heads, ...moreHeads]),
    boxes: new Map([...known.boxes, ...moreBoxes]),
    kept: new Map([...known.kept, ...moreKept]),
    children: new Map([...known.children, ...moreChildren]),
  };
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

async function entriesOf<T, U>(
  wanted: ReadonlyMap<string, T>,
  read: (it: T) => Promise<U>,
): Promise<readonly (readonly [string, U])[]> {
  const entries: (readonly [string, U])[] = [];
  for (const [name, it] of wanted) entries.push([name, await read(it)]);
  return entries;
}

/** Another transaction is being applied right now: this step is tried again. */
const unsure = ({ name, key }: Address): EngineError =>
  engineBusy(`message ${JSON.stringify(name)}, correlation key ${JSON.stringify(key)}`);
