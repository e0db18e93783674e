import type { Body, Definition, Notation } from "../definition/definition.ts";
import type { Compiler } from "../definition/diagnostic.ts";
import type { Expressions } from "../definition/expression.ts";
import type { ChildTicket, Instance } from "../kernel/instance.ts";
import type { Runner } from "../kernel/runner.ts";
import type { Blobs } from "../ports/blobs.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { OfferWatch } from "../ports/offer-watch.ts";
import type { OwnQueues } from "../ports/own-queues.ts";
import type { Pages } from "../ports/pages.ts";
import type { Parking } from "../ports/parking.ts";
import type { Store } from "../ports/store.ts";
import type { Tasks } from "../ports/tasks.ts";
import type { Timers } from "../ports/timers.ts";
import type { Observation } from "./observation.ts";

/** Everything that an engine is handed: it sees nothing else of the outside. */
export type World = Readonly<{
  store: Store;
  parking: Parking;
  tasks: Tasks;
  timers: Timers;
  clock: Clock;
  ids: Ids;
  bus: Bus;
  pages: Pages;
  blobs: Blobs;
  /** Wakes polls that wait for tasks; absent: they are told when to ask again. */
  offers?: OfferWatch;
  /** Queues of the user's own for tasks; absent: there are none. */
  ownQueues?: OwnQueues;
  expressions: Expressions;
  compilers: Readonly<Partial<Record<Notation, Compiler>>>;
  runners: Readonly<Partial<Record<Body["runner"], (definition: Definition) => Runner>>>;
  settings: Settings;
  /** The engine's own, which it brings itself. */
  children?: ChildRoads;
  /** Hears of what could not be done and was left alone. */
  onTrouble?: (about: string, error: unknown) => void;
  /** Hears of every commit after it is durable; must not throw and must not wait. */
  onCommitted?: (instance: Instance, before: Instance | undefined) => void;
  /** Hears of what no commit tells; must not throw and must not wait. */
  observe?: (observation: Observation) => void;
}>;

/**
 * What is sent from one instance to another is a step there, which sends in its turn: whoever sends
 * is handed these.
 */
export type ChildRoads = Readonly<{
  /** Says whether it had to do anything. */
  start: (world: World, parent: Instance, ticket: ChildTicket) => Promise<boolean>;
  tellParent: (world: World, child: Instance) => Promise<void>;
  cancel: (world: World, parent: Instance, ticket: string) => Promise<void>;
}>;

export type Settings = Readonly<{
  tenant: string;
  /** How long an ended instance and its history are kept. */
  retentionMs: number;
  /** Queues live in memory: what is owed must be found in the store after a restart. */
  volatileQueues: boolean;
  /** What is overdue by this much is sent again by the sweep; a minute unless said. */
  overdueMs?: number;
  /**
   * Bytes above which an instance stores its large values apart. Unless said, what one write unit
   * is billed for, or 64 KB where queues are in memory: there a write costs by the flush.
   */
  wholeBytes?: number;
  /** Bytes above which a value that stands apart is a blob; unless said, what an item takes. */
  blobBytes?: number;
  /** Time moves only when it is told to. */
  virtualClock?: boolean;
  /** One process owns the store: an owner of an earlier life is dead, whatever its lease says. */
  isDeadOwner?: (own: string) => boolean;
}>;
