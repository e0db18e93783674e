/**
 * How instances are created. All inputs of the first decision travel with the start, so the call and
 * the message that carries it decide alike, and `absent` lets one of them win. Only what lies in a
 * mailbox or is kept at that moment may differ: a start that takes such things is parked whole.
 */
import { MAX_CALL_MS, MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import type { Instance } from "../../kernel/instance.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { CarriedStart } from "../../ports/message.ts";
import type { Write } from "../../ports/store.ts";
import { postingOf } from "../rows/mailbox.ts";
import { runsHere } from "../rows/open-tickets.ts";
import { firedWrite } from "../rows/timer-start.ts";
import { type Committed, commit } from "../step/commit.ts";
import { rearm } from "../step/dispatch.ts";
import { taskMessage } from "../step/owed.ts";
import { isStorable, type Plan, planStart } from "../step/plan.ts";
import { tooLargeStart } from "../step/too-large.ts";
import { defined } from "../storage/defined.ts";
import { latestKey, shardFor } from "../storage/keys.ts";
import { readLatest } from "../storage/latest.ts";
import { START } from "../storage/names.ts";
import { loadProgram } from "../storage/programs.ts";
import { again, engineBusy, retrying } from "../storage/retrying.ts";
import { blankInstance, type Image, loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { commitCall, type Progress } from "./commit-call.ts";

/**
 * What a start writes and owes; undefined when the message that begins it has gone elsewhere, or its
 * timer's occurrence was counted. An instance that would be too large is refused before anything is sent.
 */
export async function planCreation(
  world: World,
  instanceId: string,
  start: CarriedStart,
): Promise<Plan | undefined> {
  const fired = start.timer && (await firedWrite(world, start));
  if (start.timer && fired === undefined) return undefined;
  const program = await loadProgram(world, start.definition);
  const instance = blank(world, instanceId, start);
  const want = { name: START, fact: start.fact };
  const plan = await planStart(world, { instance, program }, want, postingOf(start));
  if (plan && !isStorable(plan)) throw tooLarge(plan);
  if (plan && fired) return { ...plan, companions: [...plan.companions, fired] };
  if (plan === undefined || start.head === undefined) return plan;
  const expect = latestKey(world.settings.tenant, start.definition.id);
  const enabled: Write = { expect, when: { version: start.head } };
  return { ...plan, companions: [...plan.companions, enabled] };
}

/** Of what became of a start; `void`: what begins it has gone elsewhere, or was counted. */
export type Created = Committed | Readonly<{ kind: "void" }>;

/**
 * Creates an instance. What its start owes leaves as the message of its one task with the start
 * inside, or parked as a whole. Whichever arrives first, message or call, creates the same instance.
 */
export async function createInstance(
  world: World,
  instanceId: string,
  start: CarriedStart,
  { progress }: Readonly<{ progress?: Progress | undefined }> = {},
): Promise<Created> {
  const plan = await planCreation(world, instanceId, start);
  return plan ? commitStart(world, plan, start, progress) : { kind: "void" };
}

/** Commits a planned start, and shows its caller what it has opened. */
export const commitStart = (
  world: World,
  plan: Plan,
  start: CarriedStart,
  progress?: Progress,
): Promise<Committed> =>
  commitCall(world, plan, { copy: () => carry(world, plan, start), progress });

/**
 * A start that waits for more than time may find it at once, and then owes other things: it is parked
 * whole. So is one that took what lay there: the message that carries it may find other things.
 */
async function carry(world: World, { image, fresh }: Plan, start: CarriedStart): Promise<void> {
  const { tenant, id: instanceId, trail } = image.instance;
  const only = fresh.tickets.find((ticket) => runsHere(world, ticket));
  const others = fresh.tickets.filter(
    ({ id, on }) => id !== only?.id && on !== "timer" && on !== "incident",
  );
  const tookWhatLayThere = trail.entries.some(
    ({ type }) => type === "message-received" || type === "event-received",
  );
  if (only && others.length + fresh.outbox.length === 0 && !tookWhatLayThere) {
    return world.tasks.send({ ...taskMessage(image.instance, only), start });
  }
  const { fact } = start;
  return world.parking.park({ kind: "parked", tenant, instanceId, name: START, fact, start });
}

/** The instance of this id, whatever started it; where there is none, the carried start makes it. */
export async function loadOrCreate(
  world: World,
  instanceId: string,
  start: CarriedStart | undefined,
): Promise<Image | undefined> {
  const found = await loadInstance(world, instanceId);
  if (found || start === undefined) return found;
  const where = `instance ${instanceId}`;
  return retrying(world, { tries: MAX_TRIES_OF_PARKED, where }, async () => {
    const plan = await planCreation(world, instanceId, start);
    if (plan === undefined) return madeMeanwhile(world, instanceId, start);
    // The message at hand brings the start again: nothing else need carry it, and that message sends.
    const created = await commit(world, plan, null);
    if (created.kind === "committed") {
      await rearm(world, plan);
      return created.image;
    }
    if (created.kind === "conflict" && created.current) return created.current;
    if (created.kind === "moved" && !(await isStillHead(world, start))) {
      return loadInstance(world, instanceId);
    }
    return again(created);
  });
}

/**
 * What begins it is used up: by the very start that is carried here, or elsewhere. Where commits may be
 * seen half applied only time can tell, until the call that began it must be over.
 */
async function madeMeanwhile(
  world: World,
  instanceId: string,
  { now, timer }: CarriedStart,
): Promise<Image | undefined> {
  const found = await loadInstance(world, instanceId);
  const begunAt = timer?.at ?? now;
  const isSure = world.settings.host.seesWholeCommits || world.clock.now() - begunAt > MAX_CALL_MS;
  if (found || isSure) return found;
  throw engineBusy(`instance ${instanceId}`);
}

const tooLarge = ({ before, image: { instance, program } }: Plan): EngineError =>
  new EngineError("request/body-too-large", {
    happened: tooLargeStart(program, before, instance),
    where: program.definition.body.runner === "code" ? "input" : "variables",
    fix: "Keep large values elsewhere and pass references to them.",
  });

/** Who decided this start knows by then that the definition has changed, and decides again. */
async function isStillHead(world: World, { definition, head }: CarriedStart): Promise<boolean> {
  return head === undefined || (await readLatest(world, definition.id))?.item.version === head;
}

/** A call begins at the start event without a trigger, where there is one; code has none at all. */
export async function checkPlainStart(
  world: World,
  ref: CarriedStart["definition"],
): Promise<void> {
  const { startEvents } = (await loadProgram(world, ref)).definition;
  if (startEvents.length === 0 || startEvents.some(({ kind }) => kind === "none")) return;
  const ways = startEvents.map((it) => {
    if (it.kind === "timer") return `the timer "${it.element}"`;
    return it.kind === "none" ? "a call" : `the ${it.kind} "${it.name}"`;
  });
  throw new EngineError("definition/not-startable", {
    happened: "The definition has no plain start event",
    where: `definition ${ref.id} version ${ref.version}`,
    fix: `Its instances begin by ${ways.join(", ")}: send or await that instead.`,
  });
}

/** A start that meets another start's instance has no part in it, whatever its ticket is called. */
export function hasLost(instance: Instance, start: CarriedStart | undefined): boolean {
  return start !== undefined && !isMadeBy(instance, start);
}

function isMadeBy({ startHash, startedAt, definition }: Instance, start: CarriedStart): boolean {
  const { hash, version } = start.definition;
  if (definition.hash !== hash || definition.version !== version) return false;
  return startHash === start.request && startedAt === start.now;
}

function blank({ settings }: World, id: string, start: CarriedStart): Instance {
  const { definition, request: startHash, businessKey, tags, parent } = start;
  const shard = shardFor(id, start.shards ?? 1);
  const given = defined({ businessKey, tags, parent, shard: shard > 0 ? shard : undefined });
  return blankInstance({ id, tenant: settings.tenant, definition, startHash, ...given }, start.now);
}
