/** Taking one want into an instance: the fact itself, and what the waits that it opens find at once. */
import { MAX_REMEMBERED_REQUESTS, MAX_TIMERS_AT_ONCE } from "../definition/limits.ts";
import type { Instant } from "../definition/time/instant.ts";
import { decide, decideIncident, isDue } from "../kernel/decide.ts";
import type { Given } from "../kernel/draft.ts";
import type { Fact } from "../kernel/fact.ts";
import { findTicket, isMember } from "../kernel/family.ts";
import type { Instance, Remembered, Stamp, Ticket, TimerTicket } from "../kernel/instance.ts";
import type { Program } from "../kernel/runner.ts";
import { encodeInstance, fits, mayBeApart, roomOf, SIZE_LIMITS } from "./apart.ts";
import { atHand, type Desk, isLoaded, isTaken, placed, snapshot, useUp } from "./desk.ts";
import { hasKeyRows } from "./listing/key-rows.ts";
import { isTimer } from "./owed.ts";
import type { World } from "./world.ts";

/**
 * A fact on its way in, and the name of what brought it: everything it opens is owed by that. Or
 * only a look whether an open wait has something to take by now.
 */
export type Want = Readonly<{ name: string; remember?: Omit<Remembered, "v"> }> &
  (Readonly<{ fact: Fact }> | Readonly<{ look: string }>);

/** Who works on what the step opens; a door leaves it to the copy that it parked. */
export type Owner = Readonly<{ own: string | null; until: Instant }>;

/** What every decision of a chain has in common. */
export type Deciding = Readonly<{
  world: World;
  program: Program;
  desk: Desk;
  owner: Owner;
  given: Given;
  /** The instance as it is stored. */
  before: Instance;
}>;

/** The instance after the want; the very same where it changes nothing. */
export async function takeWant(
  deciding: Deciding,
  instance: Instance,
  want: Want,
): Promise<Instance> {
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
export async function takeIfSmall(
  deciding: Deciding,
  instance: Instance,
  want: Want,
): Promise<Instance> {
  const { world, program, owner, desk } = deciding;
  const { restore } = snapshot(desk);
  const next = await takeWant(deciding, instance, want);
  const written = encodeInstance(world, program, next, roomOf(world, next, 0));
  if (fits(written.body, written.apart)) return next;
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
  const member = look === undefined ? undefined : findTicket(instance.tickets, look);
  if (member === undefined || !isMember(member)) return undefined;
  const fact = atHand(desk, instance, member, now);
  return fact && { ticket: member, fact };
}

const dueAtOnce = (timer: TimerTicket, now: Instant): Fact | undefined =>
  isDue(timer, now) ? { kind: "timer-due", ticket: timer.id } : undefined;

const givenAt = ({ desk, given }: Deciding): Given => ({
  ...given,
  isTaken: (name, key) => isTaken(desk, name, key),
});

const tooLarge = {
  type: "STATE_TOO_LARGE",
  message: `The step was not taken: the instance would be over the limit, ${SIZE_LIMITS}. Keep large values elsewhere and pass references, then resolve this incident.`,
} as const;

/** Leaves out effects that nobody here wants: no listener, nothing to expire. */
function wanted(world: World, instance: Instance): Instance {
  const spilled = instance.trail.next - instance.trail.entries.length > 1;
  const outbox = instance.outbox.filter(({ effect }) =>
    effect.kind === "announce"
      ? world.bus.announce !== undefined
      : effect.kind !== "expire-chunks" || spilled || mayBeApart(instance) || hasKeyRows(instance),
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
