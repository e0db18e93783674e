/** The deciding half of a step: from an image and facts to what should be written. */
import {
  MIN_CHUNK_BYTES,
  MIN_RETENTION_MS,
  SPILL_BOUNDARY_BYTES,
} from "../../definition/limits.ts";
import type { Instant } from "../../definition/time/instant.ts";
import { isBatch } from "../../kernel/batch.ts";
import type { Given } from "../../kernel/draft.ts";
import { type Instance, isTerminal, type Ticket } from "../../kernel/instance.ts";
import type { Program } from "../../kernel/runner.ts";
import { runOf } from "../../kernel/trail.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Item } from "../../ports/store.ts";
import type { Posting } from "../rows/mailbox.ts";
import type { Change } from "../rows/open-tickets.ts";
import { encodeChunk, trailBytes } from "../storage/codec.ts";
import {
  billedBesides,
  encodeInstance,
  fits,
  type NewValue,
  roomOf,
} from "../storage/externalized.ts";
import {
  chunkKey,
  instanceKey,
  instanceOrder,
  instancePk,
  type Phase,
  phaseView,
} from "../storage/keys.ts";
import { journalBytes, leavingOf } from "../storage/packed-journal.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { companionsOf } from "./companions.ts";
import { lookAtOf } from "./owed.ts";
import { firstSources, isTakenIn, type KnownBoxes, readMissing } from "./sources.ts";
import {
  isLoaded,
  journalAt,
  lacksAnything,
  openContext,
  type StepContext,
} from "./step-context.ts";
import { isHeavy, type Owner, takeIfSmall, takeWant, type Want } from "./take.ts";

export type Plan = Change &
  Readonly<{
    item: Item;
    /** Names of the wants that changed something, and of those for which there was no room. */
    took: ReadonlySet<string>;
    left: ReadonlySet<string>;
    /** Waits that may have more to take: they must be checked again. */
    unserved: ReadonlySet<string>;
    /** History and values that leave the instance; must be stored first. */
    chunk?: Item;
    values: readonly NewValue[];
  }>;

/** What a plan may be given besides. */
export type Besides = Readonly<{
  /** Outbox records that have left since the last commit. */
  sent?: ReadonlySet<string>;
  /** What is put into a mailbox with this very step. */
  posting?: Posting;
  /** Mailboxes that have been read already, by name. */
  boxes?: KnownBoxes;
}>;

/** Takes the wants one after the other; undefined when none of them changes anything. */
export async function plan(
  world: World,
  image: Image,
  asked: Besides & Readonly<{ wants: readonly Want[]; owner: Owner }>,
): Promise<Plan | undefined> {
  const chain = { ...asked, given: givenFor(world, image.instance) };
  const planned = await planWith(world, image, { ...chain, take: takeWant });
  if (planned === undefined || isStorable(planned)) return planned;
  return planWith(world, image, { ...chain, take: takeIfSmall });
}

/** The first write of an instance: the same decision, wherever and whenever it is made. */
export async function planStart(
  world: World,
  image: Image,
  want: Want,
  posting?: Posting,
): Promise<Plan | undefined> {
  const now = image.instance.startedAt;
  const given = { ...givenFor(world, image.instance), now };
  const chain = { wants: [want], owner: { owner: null, expiresAt: now }, given, take: takeWant };
  return planWith(world, image, { ...chain, ...(posting && { posting }) });
}

/** Says whether what a plan would write has room in the store. */
export const isStorable = ({ item, image }: Plan): boolean => fits(item.body, image.instance.apart);

type Chain = Besides &
  Readonly<{ wants: readonly Want[]; owner: Owner; given: Given; take: typeof takeWant }>;

/** Decides, reads what that turned out to need, and decides again, until nothing is missing. */
async function planWith(world: World, image: Image, chain: Chain): Promise<Plan | undefined> {
  const sources = firstSources(world, chain.boxes);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const context = openContext(sources, { now: chain.given.now, posting: chain.posting });
    if (context.isVoid) return undefined;
    const planned = lacksAnything(context) ? undefined : await planOn(world, image, chain, context);
    if (!lacksAnything(context)) return planned;
    await readMissing(world, image.instance, sources, context.missing);
  }
  throw new EngineError("engine/busy", {
    happened: `After ${MAX_ROUNDS} rounds the step still needs more mailboxes or topics`,
    where: `instance ${image.instance.id}`,
    fix: "Let the process wait for less at a time.",
  });
}

/** Each round follows waits that the one before has opened; a step has few. */
const MAX_ROUNDS = 100;

async function planOn(
  world: World,
  { instance, program }: Image,
  { wants, owner, given, take, sent }: Chain,
  context: StepContext,
): Promise<Plan | undefined> {
  const withSources = {
    ...given,
    isTaken: isTakenIn(context.sources),
    pastJournal: () => journalAt(context, instance),
  };
  const deciding = { world, program, context, owner, given: withSources, before: instance };
  let next = instance;
  const took = new Set<string>();
  const left = new Set<string>();
  for (const want of wants) {
    if (isHeavy(context) || isLoaded(context, instance, next)) {
      left.add(want.name);
      continue;
    }
    const after = await take(deciding, next, want);
    if (after !== next) took.add(want.name);
    next = after;
  }
  if (next === instance) return undefined;
  const planned = planWrite(world, program, instance, dropSent(next, sent));
  const companions = companionsOf(world, context, instance, planned.image.instance);
  return { ...planned, companions, took, left, unserved: context.unserved };
}

/** The write that replaces `before` by `after`, which must differ only by what was decided. */
export function planWrite(world: World, program: Program, before: Instance, after: Instance): Plan {
  const version = before.version + 1;
  const grown = { ...after, version, minted: 0 };
  const bare = itemOf(world, grown);
  const besides = billedBesides(bare);
  const room = roomOf(world, grown, besides);
  const whole = encodeInstance(world, program, grown, room);
  const bytes = whole.body.length + besides;
  const spill = spillOf(world, program, { before, after: grown, bytes });
  const { body, values, apart } = spill ? encodeInstance(world, program, spill.rest, room) : whole;
  const rest = spill?.rest ?? grown;
  const instance = apart ? { ...rest, apart } : rest;
  return {
    before,
    image: { instance, program },
    item: { ...bare, body },
    values,
    companions: [],
    took: new Set(),
    left: new Set(),
    unserved: new Set(),
    ...(spill && { chunk: spill.chunk }),
    fresh: {
      // By identity: what a step leaves alone it hands on as it was, what it touches is a new value.
      tickets: instance.tickets.filter(
        (ticket) => !before.tickets.includes(ticket) && !isSameBatch(before, ticket),
      ),
      outbox: instance.outbox.filter((record) => !before.outbox.includes(record)),
    },
  };
}

/** A batch that has lost an item is owed by the trigger that owed it: the others have left already. */
const isSameBatch = ({ tickets }: Instance, ticket: Ticket): boolean =>
  isBatch(ticket) && tickets.some(({ id, lease }) => id === ticket.id && lease === ticket.lease);

/** What time it is for this instance: by this host's clock, but it never runs backwards. */
export function timeOf(world: World, { lastNow }: Pick<Instance, "lastNow">): Instant {
  const now = world.clock.now();
  return now > lastNow ? now : lastNow;
}

/** Time and chance for a decision on this instance. */
function givenFor(world: World, instance: Instance): Given {
  const { id, version } = instance;
  const now = timeOf(world, instance);
  return { now, seed: `${id}:${version}`, expressions: world.expressions };
}

/** Only its sender may drop a record: no other knows that it left. */
function dropSent(instance: Instance, sent: ReadonlySet<string> = new Set()): Instance {
  if (sent.size === 0) return instance;
  return { ...instance, outbox: instance.outbox.filter(({ id }) => !sent.has(id)) };
}

/**
 * History leaves the instance where it would cost one more unit to write, and the journal with it.
 * Only committed entries leave: a chunk is then true whichever commit wins after it. The end
 * keeps what it has.
 */
function spillOf(
  world: World,
  program: Program,
  { before, after, bytes }: Readonly<{ before: Instance; after: Instance; bytes: number }>,
): { chunk: Item; rest: Instance } | undefined {
  const committed = before.trail.entries;
  const [first] = committed;
  if (bytes <= SPILL_BOUNDARY_BYTES || first === undefined || isTerminal(after)) return undefined;
  const journal = before.journal && leavingOf(before.journal);
  const spilled = trailBytes(committed, program.definition) + (journal ? journalBytes(journal) : 0);
  const unit = (size: number) => Math.ceil(size / SPILL_BOUNDARY_BYTES);
  if (spilled < MIN_CHUNK_BYTES || unit(bytes - spilled) === unit(bytes)) return undefined;
  const last = before.trail.next - 1;
  const ends = { first: first.seq, last, journal: journal && journal.next - 1 };
  return {
    chunk: {
      key: chunkKey(instancePk(world.settings.tenant, after.id), ends),
      // Above that of every chunk that an earlier life of the same id has left under this key.
      version: runOf(after),
      body: encodeChunk(committed, program.definition, journal),
    },
    rest: {
      ...after,
      trail: without(after.trail, committed.length),
      ...(after.journal && { journal: without(after.journal, journal?.entries.length ?? 0) }),
    },
  };
}

const without = <T>(
  { next, entries }: Readonly<{ next: number; entries: readonly T[] }>,
  count: number,
) => ({ next, entries: entries.slice(count) });

function itemOf(world: World, instance: Instance): Omit<Item, "body"> {
  const { tenant, retentionMs } = world.settings;
  const lookAt = lookAtOf(world, instance);
  return {
    key: instanceKey(tenant, instance.id),
    version: instance.version,
    ...(lookAt !== undefined && { lookAt }),
    // A bulk erase finds by it what another one has left half done.
    ...(instance.erased !== true && {
      listed: {
        view: phaseView(tenant, phaseOf(instance), instance.definition.id, instance.shard ?? 0),
        order: instanceOrder(instance),
      },
    }),
    ...(instance.endedAt !== undefined && {
      expiresAt: (instance.endedAt + keptMs(instance, retentionMs)) as Instant,
    }),
  };
}

/** A tombstone need not outlive the queues, which hold nothing for as long as that. */
const keptMs = ({ erased }: Instance, retentionMs: number): number =>
  erased ? Math.min(retentionMs, MIN_RETENTION_MS) : retentionMs;

function phaseOf({ status, tickets }: Instance): Phase {
  if (status !== "live") return status;
  return tickets.some(({ on }) => on === "incident") ? "incident" : "live";
}
