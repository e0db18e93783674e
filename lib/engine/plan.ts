/**
 * From an image and facts to what should be written: the deciding half of a step. Nothing is
 * written or sent here.
 */

import {
  MAX_INSTANCE_BYTES,
  MAX_REMEMBERED_REQUESTS,
  MAX_TIMERS_AT_ONCE,
  MIN_CHUNK_BYTES,
  SPILL_BOUNDARY_BYTES,
} from "../definition/limits.ts";
import type { Instant } from "../definition/time/instant.ts";
import { decide, decideIncident, isDue } from "../kernel/decide.ts";
import type { Given } from "../kernel/draft.ts";
import type { Fact } from "../kernel/fact.ts";
import {
  type Instance,
  isTerminal,
  type Remembered,
  type Stamp,
  type Ticket,
  type TimerTicket,
} from "../kernel/instance.ts";
import type { Program } from "../kernel/runner.ts";
import { EngineError } from "../ports/engine-error.ts";
import type { Item, Write } from "../ports/store.ts";
import { encodeChunk, encodeInstance, trailBytes } from "./codec.ts";
import {
  atHand,
  companionsOf,
  type Desk,
  isLoaded,
  isTaken,
  lacksAnything,
  openDesk,
  placed,
  snapshot,
  useUp,
} from "./desk.ts";
import { chunkKey, instanceKey, instanceOrder, instancePk, type Phase, phaseView } from "./keys.ts";
import type { Posting } from "./messages/posting.ts";
import { type Entries, isTimer, lookAtOf } from "./owed.ts";
import { firstSources, readSources, type Sources } from "./sources.ts";
import type { Image } from "./stored-instance.ts";
import type { World } from "./world.ts";

/**
 * A fact on its way in, and the name of what brought it: everything it opens is owed by that. Or
 * only a look whether an open wait has something to take by now.
 */
export type Want = Readonly<{ name: string; remember?: Omit<Remembered, "v"> }> &
  (Readonly<{ fact: Fact }> | Readonly<{ look: string }>);

/** Who works on what the step opens; a door leaves it to the copy that it parked. */
export type Owner = Readonly<{ own: string | null; until: Instant }>;

export type Plan = Readonly<{
  before: Instance;
  /** As it will be once committed. */
  image: Image;
  item: Item;
  /** What the step's waits stand on: written together with the instance, or not at all. */
  companions: readonly Write[];
  /** Names of the wants that changed something, and of those for which there was no room. */
  took: ReadonlySet<string>;
  left: ReadonlySet<string>;
  /** Waits that may have more to take: somebody has to look again. */
  unserved: ReadonlySet<string>;
  /** History that leaves the instance; must be stored first. */
  chunk?: Item;
  /** What this step newly owes. */
  fresh: Entries;
}>;

/** What a plan may be given besides. */
export type Besides = Readonly<{
  /** Outbox records that have left since the last commit. */
  sent?: ReadonlySet<string>;
  /** What is put into a mailbox with this very step. */
  posting?: Posting;
  /** Mailboxes that have been read already, by name. */
  boxes?: Sources["boxes"];
}>;

/** Takes the wants one after the other; undefined when none of them changes anything. */
export async function plan(
  world: World,
  image: Image,
  wants: readonly Want[],
  owner: Owner,
  besides: Besides = {},
): Promise<Plan | undefined> {
  const given = givenFor(world, image.instance);
  const planned = await planWith(world, image, { wants, owner, given, ...besides, take: takeWant });
  if (planned === undefined || planned.item.body.length <= MAX_INSTANCE_BYTES) return planned;
  return planWith(world, image, { wants, owner, given, ...besides, take: takeIfSmall });
}

/** The first write of an instance: the same decision, whoever makes it and when. */
export async function planStart(
  world: World,
  image: Image,
  want: Want,
  posting?: Posting,
): Promise<Plan | undefined> {
  const now = image.instance.startedAt;
  const given = { ...givenFor(world, image.instance), now };
  const owner = { own: null, until: now };
  const besides = posting ? { posting } : {};
  return planWith(world, image, { wants: [want], owner, given, ...besides, take: takeWant });
}

type Chain = Besides &
  Readonly<{ wants: readonly Want[]; owner: Owner; given: Given; take: typeof takeWant }>;

/** Decides, reads what that turned out to need, and decides again, until nothing is missing. */
async function planWith(world: World, image: Image, chain: Chain): Promise<Plan | undefined> {
  let sources = firstSources(world, chain.boxes);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const desk = openDesk(sources, chain.posting);
    if (desk.isVoid) return undefined;
    const planned = lacksAnything(desk) ? undefined : await planOn(world, image, chain, desk);
    if (!lacksAnything(desk)) return planned;
    sources = await readSources(world, image.instance, sources, desk.missing);
  }
  throw new EngineError("engine/busy", {
    happened: `After ${MAX_ROUNDS} rounds the step still needs more mailboxes or topics`,
    where: `instance ${image.instance.id}`,
    fix: "Let the process wait for less at a time.",
    retryable: true,
  });
}

/** Each round follows waits that the one before has opened; a step has few. */
const MAX_ROUNDS = 100;

async function planOn(
  world: World,
  { instance, program }: Image,
  { wants, owner, given, take, sent }: Chain,
  desk: Desk,
): Promise<Plan | undefined> {
  let next = instance;
  const took = new Set<string>();
  const left = new Set<string>();
  for (const want of wants) {
    if (isLoaded(desk, instance, next)) {
      left.add(want.name);
      continue;
    }
    const after = await take({ world, program, desk, owner, given, before: instance }, next, want);
    if (after !== next) took.add(want.name);
    next = after;
  }
  if (next === instance) return undefined;
  const planned = planWrite(world, program, instance, dropSent(next, sent ?? new Set()));
  const companions = companionsOf(world, desk, instance, planned.image.instance);
  return { ...planned, companions, took, left, unserved: desk.unserved };
}

/** The write that replaces `before` by `after`, which must differ only by what was decided. */
export function planWrite(world: World, program: Program, before: Instance, after: Instance): Plan {
  const version = before.version + 1;
  const grown = { ...after, version, minted: 0 };
  const whole = encodeInstance(grown, program.definition);
  const spill = spillOf(world, program, before, grown, whole.length);
  const instance = spill?.rest ?? grown;
  const body = spill ? encodeInstance(instance, program.definition) : whole;
  return {
    before,
    image: { instance, program },
    item: itemOf(world, instance, body),
    companions: [],
    took: new Set(),
    left: new Set(),
    unserved: new Set(),
    ...(spill && { chunk: spill.chunk }),
    fresh: {
      // By identity: what a step leaves alone it hands on as it was, what it touches is a new value.
      tickets: instance.tickets.filter((ticket) => !before.tickets.includes(ticket)),
      outbox: instance.outbox.filter((record) => !before.outbox.includes(record)),
    },
  };
}

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

/** What every decision of a chain has in common. */
type Deciding = Readonly<{
  world: World;
  program: Program;
  desk: Desk;
  owner: Owner;
  given: Given;
  /** The instance as it is stored. */
  before: Instance;
}>;

async function takeWant(deciding: Deciding, instance: Instance, want: Want): Promise<Instance> {
  const { world, program, owner } = deciding;
  const { name, remember } = want;
  const stamp = { by: name, ...owner };
  const given = givenAt(deciding);
  const decided =
    "fact" in want ? (await decide(program, instance, want.fact, given)).instance : instance;
  if ("fact" in want && decided === instance) return instance;
  const next = await takeAtHand(deciding, decided, "look" in want ? want.look : undefined);
  if (next === instance) return instance;
  const remembered = remember ? addToRing(next, { ...remember, v: instance.version + 1 }) : next;
  return stampFresh(wanted(world, remembered), stamp, deciding.desk);
}

/** Refuses the one fact that makes the instance too large, and takes the others. */
async function takeIfSmall(deciding: Deciding, instance: Instance, want: Want): Promise<Instance> {
  const { world, program, owner, desk } = deciding;
  const { restore } = snapshot(desk);
  const next = await takeWant(deciding, instance, want);
  if (encodeInstance(next, program.definition).length <= MAX_INSTANCE_BYTES) return next;
  // What a mailbox or a kept event had for it stays there.
  restore();
  const fact = "fact" in want ? want.fact : firstAtHand(deciding, instance, want.look)?.fact;
  if (fact === undefined) return instance;
  const given = givenAt(deciding);
  const refused = decideIncident(program, instance, fact, given, tooLarge).instance;
  return stampFresh(wanted(world, refused), { by: want.name, ...owner }, desk);
}

/**
 * What a wait finds when it is opened is taken in the same step: a timer that is due already, an
 * event in the inbox, a message in the mailbox. So does the wait that somebody is to look after.
 */
async function takeAtHand(
  deciding: Deciding,
  opened: Instance,
  look: string | undefined,
): Promise<Instance> {
  const { program, desk } = deciding;
  const given = givenAt(deciding);
  let instance = opened;
  for (let taken = 0; taken < MAX_TIMERS_AT_ONCE; taken++) {
    const found = firstAtHand(deciding, instance, look);
    if (found === undefined) break;
    if (found.ticket.on !== "timer" && isLoaded(desk, deciding.before, instance)) {
      desk.unserved.add(found.ticket.id);
      break;
    }
    const decided = await decide(program, instance, found.fact, given);
    if (!decided.changed) break;
    useUp(desk, instance, found.ticket, found.fact);
    instance = decided.instance;
  }
  return instance;
}

function firstAtHand(
  { desk, given: { now } }: Deciding,
  instance: Instance,
  look: string | undefined,
): Readonly<{ ticket: Ticket; fact: Fact }> | undefined {
  for (const ticket of instance.tickets) {
    if (ticket.stamp !== undefined && ticket.id !== look) continue;
    const fact =
      isTimer(ticket) && ticket.stamp === undefined
        ? dueAtOnce(ticket, now)
        : atHand(desk, instance, ticket, now);
    if (fact) return { ticket, fact };
  }
  return undefined;
}

const dueAtOnce = (timer: TimerTicket, now: Instant): Fact | undefined =>
  isDue(timer, now) ? { kind: "timer-due", ticket: timer.id } : undefined;

const givenAt = ({ desk, given }: Deciding): Given => ({
  ...given,
  isTaken: (name, key) => isTaken(desk, name, key),
});

const tooLarge = {
  type: "STATE_TOO_LARGE",
  message: `The step was not taken: the instance would grow over ${MAX_INSTANCE_BYTES} bytes. Keep large values elsewhere and pass references, then resolve this incident.`,
} as const;

/** Leaves out effects that nobody here wants: no listener, no chunk to expire. */
function wanted(world: World, instance: Instance): Instance {
  const spilled = instance.trail.next - instance.trail.entries.length > 1;
  const outbox = instance.outbox.filter(({ effect }) =>
    effect.kind === "announce"
      ? world.bus.announce !== undefined
      : effect.kind !== "expire-chunks" || spilled,
  );
  return outbox.length === instance.outbox.length ? instance : { ...instance, outbox };
}

/** Everything that carries no stamp yet was opened by this want: its trigger owes it. */
function stampFresh(instance: Instance, stamp: Stamp, desk: Desk): Instance {
  return {
    ...instance,
    tickets: instance.tickets.map((ticket) =>
      ticket.stamp ? ticket : { ...placed(desk, ticket, instance.version + 1), stamp },
    ),
    outbox: instance.outbox.map((record) => (record.stamp ? record : { ...record, stamp })),
  };
}

function addToRing(instance: Instance, remembered: Remembered): Instance {
  return { ...instance, ring: [...instance.ring, remembered].slice(-MAX_REMEMBERED_REQUESTS) };
}

/** Only who sent a record may drop it: nobody else knows that it left. */
function dropSent(instance: Instance, sent: ReadonlySet<string>): Instance {
  if (sent.size === 0) return instance;
  return { ...instance, outbox: instance.outbox.filter(({ id }) => !sent.has(id)) };
}

/**
 * History leaves the instance where it would cost one more unit to write. Only committed entries
 * leave: a chunk is then true whoever wins the commit that follows. The end keeps what it has.
 */
function spillOf(
  world: World,
  program: Program,
  before: Instance,
  after: Instance,
  bytes: number,
): { chunk: Item; rest: Instance } | undefined {
  const committed = before.trail.entries;
  if (bytes <= SPILL_BOUNDARY_BYTES || committed.length === 0 || isTerminal(after))
    return undefined;
  const spilled = trailBytes(committed, program.definition);
  const unit = (size: number) => Math.ceil(size / SPILL_BOUNDARY_BYTES);
  if (spilled < MIN_CHUNK_BYTES || unit(bytes - spilled) === unit(bytes)) return undefined;
  const first = committed[0]?.seq ?? 0;
  const last = before.trail.next - 1;
  return {
    chunk: {
      key: chunkKey(instancePk(world.settings.tenant, after.id), first, last),
      version: last,
      body: encodeChunk(committed, program.definition),
    },
    rest: {
      ...after,
      trail: { ...after.trail, entries: after.trail.entries.slice(committed.length) },
    },
  };
}

function itemOf(world: World, instance: Instance, body: Uint8Array): Item {
  const { tenant, retentionMs } = world.settings;
  const lookAt = lookAtOf(world, instance);
  return {
    key: instanceKey(tenant, instance.id),
    version: instance.version,
    body,
    ...(lookAt !== undefined && { lookAt }),
    listed: {
      view: phaseView(tenant, phaseOf(instance), instance.definition.id),
      order: instanceOrder(instance),
    },
    ...(instance.endedAt !== undefined && {
      expiresAt: (instance.endedAt + retentionMs) as Instant,
    }),
  };
}

function phaseOf({ status, tickets }: Instance): Phase {
  if (status !== "live") return status;
  return tickets.some(({ on }) => on === "incident") ? "incident" : "live";
}
