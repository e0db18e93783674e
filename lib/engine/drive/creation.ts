/**
 * How instances come to be. All inputs of the first decision travel with the start, so the door and
 * the message that carries it decide alike, and `absent` lets one of them win. Only what lies in a
 * mailbox or is kept at that moment may differ: a start that takes such things is parked whole.
 */
import { MAX_CALL_MS, MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import type { Instance } from "../../kernel/instance.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { CarriedStart } from "../../ports/message.ts";
import type { Write } from "../../ports/store.ts";
import { postingOf } from "../rows/mailbox.ts";
import { firedWrite } from "../rows/timer-start.ts";
import { commit } from "../step/commit.ts";
import { rearm } from "../step/dispatch.ts";
import { isStorable, type Plan, planStart } from "../step/plan.ts";
import { blankInstance } from "../storage/blank-instance.ts";
import { SIZE_LIMITS } from "../storage/externalized.ts";
import { latestKey } from "../storage/keys.ts";
import { readLatest } from "../storage/latest.ts";
import { START } from "../storage/names.ts";
import { loadProgram } from "../storage/programs.ts";
import { shardFor } from "../storage/shard-for.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";

/**
 * What a start writes and owes; undefined when the message that begins it has gone elsewhere, or the
 * occurrence of the timer that begins it has been counted. An
 * instance that would be too large from the beginning is refused before anything is sent.
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
  if (plan && !isStorable(plan)) throw tooLarge();
  if (plan && fired) return { ...plan, companions: [...plan.companions, fired] };
  if (plan === undefined || start.head === undefined) return plan;
  const expect = latestKey(world.settings.tenant, start.definition.id);
  const enabled: Write = { expect, when: { version: start.head } };
  return { ...plan, companions: [...plan.companions, enabled] };
}

/** The instance of this id, whoever started it; where there is none, the carried start makes it. */
export async function loadOrCreate(
  world: World,
  instanceId: string,
  start: CarriedStart | undefined,
): Promise<Image | undefined> {
  const found = await loadInstance(world, instanceId);
  if (found || start === undefined) return found;
  for (let tries = 0; tries < MAX_TRIES_OF_PARKED; tries++) {
    const plan = await planCreation(world, instanceId, start);
    if (plan === undefined) return madeMeanwhile(world, instanceId, start);
    const outcome = await commit(world, plan, null);
    if (outcome.kind === "committed") {
      await rearm(world, plan);
      return outcome.image;
    }
    if (outcome.kind === "conflict" && outcome.current) return outcome.current;
    if (outcome.kind === "moved" && !(await isStillHead(world, start))) {
      return loadInstance(world, instanceId);
    }
    await world.clock.pause(outcome.kind === "busy" ? outcome.retryAfterMs : 5);
  }
  throw busy(instanceId);
}

/**
 * What begins it is used up: by the very start that is carried here, or elsewhere. Where commits may be
 * seen half applied only time can tell, until whoever began it must be over.
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
  throw busy(instanceId);
}

function tooLarge(): EngineError {
  return new EngineError("request/body-too-large", {
    happened: `The instance would be over the limit: ${SIZE_LIMITS}`,
    where: "variables",
    fix: "Keep large values elsewhere and pass references to them.",
    retryable: false,
  });
}

const busy = (instanceId: string): EngineError =>
  new EngineError("engine/busy", {
    happened: "The store is too busy to create the instance now",
    where: `instance ${instanceId}`,
    fix: "Nothing is lost: the message that carries the start comes back.",
    retryable: true,
  });

/** Who decided this start knows by then that the definition has changed, and decides again. */
async function isStillHead(world: World, { definition, head }: CarriedStart): Promise<boolean> {
  return head === undefined || (await readLatest(world, definition.id))?.item.version === head;
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
  const given = {
    ...(businessKey !== undefined && { businessKey }),
    ...(tags && { tags }),
    ...(parent && { parent }),
    ...(shard > 0 && { shard }),
  };
  return blankInstance({ id, tenant: settings.tenant, definition, startHash, ...given }, start.now);
}
