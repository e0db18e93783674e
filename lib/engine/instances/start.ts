/** Starting an instance: idempotent by its id, acknowledged when it is durable. */
import { canonicalJson } from "../../definition/json.ts";
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import { checkedValue } from "../../definition/parsed.ts";
import { addDuration, parseDuration } from "../../definition/time/duration.ts";
import { type Instant, parseInstant } from "../../definition/time/instant.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { CarriedStart } from "../../ports/message.ts";
import { answerCall, commitCall, type Progress } from "../drive/commit-call.ts";
import { planCreation } from "../drive/creation.ts";
import { keyReused, owesMoreThanTimers } from "../drive/instance-request.ts";
import { runsHere } from "../rows/open-tickets.ts";
import type { StartRequest } from "../shapes/instances.ts";
import type { IdempotencyKey } from "../shapes/paging.ts";
import type { Committed } from "../step/commit.ts";
import { showCaller } from "../step/dispatch.ts";
import type { Plan } from "../step/plan.ts";
import { taskMessage } from "../step/task-message.ts";
import { defined } from "../storage/defined.ts";
import { startable } from "../storage/latest.ts";
import { START } from "../storage/names.ts";
import { loadProgram } from "../storage/programs.ts";
import { again, engineBusy, retrying } from "../storage/retrying.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";

/** The started instance; the one that is there already, if the same start made it. */
export async function start(
  world: World,
  definitionId: string,
  request: StartRequest,
  key?: IdempotencyKey,
): Promise<Image> {
  const instanceId = request.instanceId ?? idFor(world, definitionId, key);
  const fingerprint = world.ids.digest(canonicalJson([definitionId, request]));
  // A repeat gets its answer whatever has become of the definition since.
  const mayRepeat = key !== undefined || request.instanceId !== undefined;
  const known = mayRepeat ? await loadInstance(world, instanceId) : undefined;
  if (known) return sameStart(known, fingerprint, key);
  const { definition, ...spread } = await startable(world, definitionId, request.version);
  await checkPlainStart(world, definition);
  const now = world.clock.now();
  const carried: CarriedStart = {
    definition,
    now,
    request: fingerprint,
    fact: {
      kind: "started",
      input: {
        variables: request.variables ?? {},
        ...(request.deadline !== undefined && { deadline: deadlineOf(request.deadline, now) }),
      },
    },
    ...defined({ businessKey: request.businessKey, tags: request.tags }),
    ...spread,
  };
  const image = await answerCall(`instance ${instanceId}`, (progress) =>
    create(world, instanceId, carried, progress),
  );
  return sameStart(image, fingerprint, key);
}

/**
 * Commits a start. What it owes leaves as the message of its one task with the start inside, or
 * parked as a whole. Whichever is first, message or request, creates the same instance. What waits
 * for more than time may be found at once, and then owes other things: it is parked whole.
 */
export function commitStart(
  world: World,
  plan: Plan,
  start: CarriedStart,
  progress?: Progress,
): Promise<Committed> {
  return commitCall(world, plan, {
    copy: owesMoreThanTimers(world, plan) ? () => carry(world, plan, start) : undefined,
    show: () => showCaller(world, plan),
    progress,
  });
}

async function carry(world: World, plan: Plan, start: CarriedStart): Promise<void> {
  const { tenant, id: instanceId } = plan.image.instance;
  const tasks = plan.fresh.tickets.filter((ticket) => runsHere(world, ticket));
  const [only] = tasks;
  const others = plan.fresh.tickets.filter(
    ({ id, on }) => id !== only?.id && on !== "timer" && on !== "incident",
  );
  const isAlone = others.length === 0 && plan.fresh.outbox.length === 0;
  if (only && isAlone && !tookWhatLayThere(plan)) {
    return world.tasks.send({ ...taskMessage(plan.image.instance, only), start });
  }
  const { fact } = start;
  return world.parking.park({ kind: "parked", tenant, instanceId, name: START, fact, start });
}

/**
 * A copy of the start may find other messages there and come to other tasks: then the message of
 * one task may not stand for all that the start owes.
 */
const tookWhatLayThere = ({ image }: Plan): boolean =>
  image.instance.trail.entries.some(
    ({ type }) => type === "message-received" || type === "event-received",
  );

async function create(
  world: World,
  instanceId: string,
  start: CarriedStart,
  progress: Progress,
): Promise<Image> {
  const busy = () => ({
    happened: "The store is too busy to take the start now",
    where: `definition ${start.definition.id}`,
    fix: "Send the request again in a second, with the same Idempotency-Key or instanceId.",
  });
  return retrying(world, { tries: MAX_TRIES_OF_DOOR, busy }, async () => {
    const plan = await planCreation(world, instanceId, start);
    if (plan === undefined) throw engineBusy(busy());
    const outcome = await commitStart(world, plan, start, progress);
    if (outcome.kind === "committed") return outcome.image;
    if (outcome.kind === "conflict" && outcome.current) return outcome.current;
    if (outcome.kind !== "moved") throw engineBusy(busy());
    return again();
  });
}

/** The instance that is there, if this very request made it: no copy of another one can. */
function sameStart(found: Image, fingerprint: string, key: IdempotencyKey | undefined): Image {
  const { id, startHash, erased } = found.instance;
  if (erased) throw taken(id);
  if (startHash === fingerprint) return found;
  throw key === undefined ? taken(id) : keyReused(id);
}

/** The same key names the same instance for ever. */
function idFor(world: World, definitionId: string, key: string | undefined): string {
  if (key === undefined) return world.ids.fresh();
  return world.ids.digest(`${world.settings.tenant}\n${definitionId}\n${key}`);
}

/** A call begins at the start event without a trigger, where there is one; code has none at all. */
export async function checkPlainStart(
  world: World,
  ref: CarriedStart["definition"],
): Promise<void> {
  const { definition } = await loadProgram(world, ref);
  const { startEvents } = definition;
  if (startEvents.length === 0 || startEvents.some(({ kind }) => kind === "none")) return;
  const ways = startEvents.map((it) => {
    if (it.kind === "timer") return `the timer "${it.element}"`;
    return it.kind === "none" ? "a call" : `the ${it.kind} "${it.name}"`;
  });
  throw new EngineError("definition/not-startable", {
    happened: "The definition has no plain start event",
    where: `definition ${ref.id} version ${ref.version}`,
    fix: `Its instances begin by ${ways.join(", ")}: send or await that instead.`,
    retryable: false,
  });
}

function deadlineOf(text: string, now: Instant): Instant {
  const duration = parseDuration(text);
  return duration.ok ? addDuration(now, duration.value) : checkedValue(parseInstant(text));
}

function taken(instanceId: string): EngineError {
  return new EngineError("instance/id-taken", {
    happened: "The instance id is taken by another start",
    where: `instance ${instanceId}`,
    fix: "Choose another instanceId, or repeat the first start with exactly its body.",
    retryable: false,
  });
}
