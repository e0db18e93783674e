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
import { type Instance, isTerminal, type Remembered, type Stamp } from "../kernel/instance.ts";
import type { Program } from "../kernel/runner.ts";
import type { Item } from "../ports/store.ts";
import { encodeChunk, encodeInstance, trailBytes } from "./codec.ts";
import { chunkKey, instanceKey, instanceOrder, instancePk, type Phase, phaseView } from "./keys.ts";
import { type Entries, isTimer, lookAtOf } from "./owed.ts";
import type { Image } from "./stored-instance.ts";
import type { World } from "./world.ts";

/** A fact on its way in, and the name of what brought it: everything it opens is owed by that. */
export type Want = Readonly<{ name: string; fact: Fact; remember?: Omit<Remembered, "v"> }>;

/** Who works on what the step opens; a door leaves it to the copy that it parked. */
export type Owner = Readonly<{ own: string | null; until: Instant }>;

export type Plan = Readonly<{
  before: Instance;
  /** As it will be once committed. */
  image: Image;
  item: Item;
  /** History that leaves the instance; must be stored first. */
  chunk?: Item;
  /** What this step newly owes. */
  fresh: Entries;
}>;

/** Takes the facts one after the other; undefined when none of them changes anything. */
export async function plan(
  world: World,
  { instance, program }: Image,
  wants: readonly Want[],
  owner: Owner,
  sent: ReadonlySet<string> = new Set(),
): Promise<Plan | undefined> {
  const given = givenFor(world, instance);
  const takeAll = async (take: typeof takeWant) => {
    let next = instance;
    for (const want of wants) next = await take(world, program, next, want, owner, given);
    return next === instance
      ? undefined
      : planWrite(world, program, instance, dropSent(next, sent));
  };
  const planned = await takeAll(takeWant);
  if (planned === undefined || planned.item.body.length <= MAX_INSTANCE_BYTES) return planned;
  return takeAll(takeIfSmall);
}

/** The first write of an instance: the same bytes, whoever makes them and when. */
export async function planStart(
  world: World,
  { instance, program }: Image,
  want: Want,
): Promise<Plan> {
  const now = instance.startedAt;
  const given = { ...givenFor(world, instance), now };
  const owner = { own: null, until: now };
  const started = await takeWant(world, program, instance, want, owner, given);
  return planWrite(world, program, instance, started);
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

async function takeWant(
  world: World,
  program: Program,
  instance: Instance,
  { name, fact, remember }: Want,
  owner: Owner,
  given: Given,
): Promise<Instance> {
  const stamp = { by: name, ...owner };
  const decided = await decide(program, instance, fact, given);
  if (!decided.changed) return instance;
  const next = await fireDueTimers(program, decided.instance, given);
  const remembered = remember ? addToRing(next, { ...remember, v: instance.version + 1 }) : next;
  return stampFresh(wanted(world, remembered), stamp);
}

/** Refuses the one fact that makes the instance too large, and takes the others. */
async function takeIfSmall(
  world: World,
  program: Program,
  instance: Instance,
  want: Want,
  owner: Owner,
  given: Given,
): Promise<Instance> {
  const next = await takeWant(world, program, instance, want, owner, given);
  if (encodeInstance(next, program.definition).length <= MAX_INSTANCE_BYTES) return next;
  const refused = decideIncident(program, instance, want.fact, given, tooLarge).instance;
  return stampFresh(wanted(world, refused), { by: want.name, ...owner });
}

/** A timer that is due when it is opened fires in the same step. */
async function fireDueTimers(program: Program, opened: Instance, given: Given): Promise<Instance> {
  let instance = opened;
  for (let fired = 0; fired < MAX_TIMERS_AT_ONCE; fired++) {
    const due = instance.tickets.find(
      (ticket) => isTimer(ticket) && ticket.stamp === undefined && isDue(ticket, given.now),
    );
    if (due === undefined) break;
    const fact = { kind: "timer-due", ticket: due.id } as const;
    instance = (await decide(program, instance, fact, given)).instance;
  }
  return instance;
}

const tooLarge = {
  type: "STATE_TOO_LARGE",
  message: `The step was not taken: the instance would grow over ${MAX_INSTANCE_BYTES} bytes. Keep large values elsewhere and pass references, then resolve this incident.`,
} as const;

/** Leaves out effects that nobody here wants: no listener, no chunk to expire. */
function wanted(world: World, instance: Instance): Instance {
  const spilled = instance.trail.next - instance.trail.entries.length > 1;
  const outbox = instance.outbox.filter(({ effect }) =>
    effect.kind === "announce" ? world.bus !== undefined : spilled,
  );
  return outbox.length === instance.outbox.length ? instance : { ...instance, outbox };
}

/** Everything that carries no stamp yet was opened by this want: its trigger owes it. */
function stampFresh(instance: Instance, stamp: Stamp): Instance {
  return {
    ...instance,
    tickets: instance.tickets.map((ticket) => (ticket.stamp ? ticket : { ...ticket, stamp })),
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
