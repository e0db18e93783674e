/** Taking one want into an instance: the fact itself, and what the waits that it opens find at once. */
import {
  MAX_REMEMBERED_REQUESTS,
  MAX_TIMERS_AT_ONCE,
  MAX_WORK_PER_COMMIT,
} from "../../definition/limits.ts";
import type { Instant } from "../../definition/time/instant.ts";
import { findTicket, isBatchItem } from "../../kernel/batch.ts";
import { type Decision, decideIncident, isDue } from "../../kernel/decide.ts";
import type { Given } from "../../kernel/draft.ts";
import type { Fact } from "../../kernel/fact.ts";
import type { Instance, RecentRequest, Ticket, TimerTicket } from "../../kernel/instance.ts";
import type { Program } from "../../kernel/runner.ts";
import type { Invocation } from "../../ports/message.ts";
import { hasKeyRows } from "../rows/key-rows.ts";
import { isTimer } from "../rows/open-tickets.ts";
import { encodeInstance, fits, mayExternalize, roomOf } from "../storage/externalized.ts";
import type { World } from "../world.ts";
import { placed } from "./companions.ts";
import { decideGuarded } from "./guarded.ts";
import { atHand, isLoaded, type StepContext, snapshot, useUp } from "./step-context.ts";
import { tooLargeWhy } from "./too-large.ts";

/**
 * A fact on its way in, and the name of what brought it: everything it opens is owed by that. Or
 * only a look whether an open wait has something to take by now.
 */
export type Want = Readonly<{ name: string; remember?: Omit<RecentRequest, "v"> }> &
  (Readonly<{ fact: Fact }> | Readonly<{ look: string }>);

/** Who works on what the step opens. */
export type Owner = Readonly<{ owner: string | null; expiresAt: Instant }>;

export const ownerOf = ({ id, until }: Invocation): Owner => ({ owner: id, expiresAt: until });

/** A request leaves what its step opens to the copy that it parks. */
export const noOwner = ({ clock }: Pick<World, "clock">): Owner => {
  return { owner: null, expiresAt: clock.now() };
};

/** What every decision of a chain has in common. */
export type Deciding = Readonly<{
  world: World;
  program: Program;
  context: StepContext;
  owner: Owner;
  given: Given;
  /** The instance as it is stored. */
  before: Instance;
  /** Every decision that makes the instance too large is replaced by an incident that keeps its fact. */
  keepsSmall?: true;
}>;

/** Whether expressions have taken so long that others should be served before the next decision. */
export const isHeavy = ({ work }: StepContext): boolean => work > MAX_WORK_PER_COMMIT;

/** The instance after the want; the very same where it changes nothing. */
export async function takeWant(
  deciding: Deciding,
  instance: Instance,
  want: Want,
): Promise<Instance> {
  const { name, remember } = want;
  const decided = "fact" in want ? await decideFact(deciding, instance, want.fact) : { instance };
  if ("fact" in want && decided.instance === instance) return instance;
  const look = "look" in want ? want.look : undefined;
  const next = await takeAtHand(deciding, decided.instance, look);
  if (next === instance) return instance;
  const remembered = remember ? addToRing(next, { ...remember, v: instance.version + 1 }) : next;
  return leaseFresh(deciding, remembered, name);
}

async function decideFact(deciding: Deciding, instance: Instance, fact: Fact): Promise<Decision> {
  const decision = await decideGuarded(deciding, instance, fact);
  deciding.context.work += decision.work ?? 0;
  if (!deciding.keepsSmall || isSmall(deciding, decision.instance)) return decision;
  const { program, given } = deciding;
  const why = tooLargeWhy(program, instance, decision.instance);
  return decideIncident(program, instance, { fact, why, hasRoom: true }, given);
}

function isSmall({ world, program }: Deciding, instance: Instance): boolean {
  const written = encodeInstance(world, program, instance, roomOf(world, instance, 0));
  return fits(written.body, written.apart);
}

/**
 * Refuses the one fact that makes the instance too large, and takes the others. A workflow in code may
 * react to a small fact with large operations: then an incident keeps the fact, if it has room.
 */
export async function takeIfSmall(
  deciding: Deciding,
  instance: Instance,
  want: Want,
): Promise<Instance> {
  const { program, given } = deciding;
  const restore = snapshot(deciding.context);
  const isCode = program.definition.body.runner === "code";
  const next = await takeWant({ ...deciding, ...(isCode && { keepsSmall: true }) }, instance, want);
  if (isSmall(deciding, next)) return next;
  // What a mailbox or a kept event had for it stays there.
  restore();
  const fact = "fact" in want ? want.fact : firstAtHand(deciding, instance, want.look)?.fact;
  if (fact === undefined) return instance;
  const why = tooLargeWhy(program, instance, next);
  const refused = decideIncident(program, instance, { fact, why }, given).instance;
  return leaseFresh(deciding, refused, want.name);
}

/**
 * What a wait finds when it is opened is taken in the same step: a timer that is due already, an
 * event in the inbox, a message in the mailbox. So is what the wait finds that is checked again.
 */
async function takeAtHand(
  deciding: Deciding,
  opened: Instance,
  look: string | undefined,
): Promise<Instance> {
  const { context } = deciding;
  let instance = opened;
  for (let taken = 0; taken < MAX_TIMERS_AT_ONCE; taken++) {
    const found = firstAtHand(deciding, instance, look);
    if (found === undefined) break;
    const isTimerDue = found.ticket.on === "timer";
    if (isHeavy(context) || (!isTimerDue && isLoaded(context, deciding.before, instance))) {
      // A timer that is due comes by itself.
      if (!isTimerDue) context.unserved.add(found.ticket.id);
      break;
    }
    const decided = await decideFact(deciding, instance, found.fact);
    if (!decided.changed) break;
    useUp(context, instance, found.ticket, found.fact);
    instance = decided.instance;
  }
  return instance;
}

function firstAtHand(
  { context }: Deciding,
  instance: Instance,
  look: string | undefined,
): Readonly<{ ticket: Ticket; fact: Fact }> | undefined {
  for (const ticket of instance.tickets) {
    if (ticket.lease !== undefined && ticket.id !== look) continue;
    const isFreshTimer = isTimer(ticket) && ticket.lease === undefined;
    const fact = isFreshTimer ? dueAtOnce(ticket, context.now) : atHand(context, instance, ticket);
    if (fact) return { ticket, fact };
  }
  const item = look === undefined ? undefined : findTicket(instance.tickets, look);
  if (item === undefined || !isBatchItem(item)) return undefined;
  const fact = atHand(context, instance, item);
  return fact && { ticket: item, fact };
}

const dueAtOnce = (timer: TimerTicket, now: Instant): Fact | undefined =>
  isDue(timer, now) ? { kind: "timer-due", ticket: timer.id } : undefined;

/** Leaves out effects that serve nothing here: no listener, nothing to expire. */
function wanted(world: World, instance: Instance): Instance {
  const spilled = instance.trail.next - instance.trail.entries.length > 1;
  const outbox = instance.outbox.filter(({ effect }) =>
    effect.kind === "announce"
      ? world.bus.announce !== undefined
      : effect.kind !== "expire-chunks" ||
        spilled ||
        mayExternalize(instance) ||
        hasKeyRows(instance),
  );
  return outbox.length === instance.outbox.length ? instance : { ...instance, outbox };
}

/** Everything that carries no lease yet was opened by the want of this name: its trigger owes it. */
function leaseFresh({ world, owner, context }: Deciding, decided: Instance, name: string) {
  const lease = { trigger: name, ...owner };
  const instance = wanted(world, decided);
  return {
    ...instance,
    tickets: instance.tickets.map((ticket) =>
      ticket.lease ? ticket : { ...placed(context, ticket, instance.version + 1), lease },
    ),
    outbox: instance.outbox.map((record) => (record.lease ? record : { ...record, lease })),
  };
}

function addToRing(instance: Instance, remembered: RecentRequest): Instance {
  return { ...instance, ring: [...instance.ring, remembered].slice(-MAX_REMEMBERED_REQUESTS) };
}

/** Leaves a want to the queue of its instance, where many are taken together. */
export function parkWant(
  world: World,
  { tenant, id: instanceId }: Pick<Instance, "tenant" | "id">,
  want: Want,
): Promise<void> {
  const about = { tenant, instanceId, name: want.name };
  return "fact" in want
    ? world.parking.park({ kind: "parked", ...about, fact: want.fact })
    : world.parking.park({ kind: "look", ...about, ticket: want.look });
}
