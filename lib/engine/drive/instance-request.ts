/**
 * Facts that come through a door: a call that nobody will repeat for us. The door decides first.
 * A step that owes nothing but timers is simply committed. One that owes more has a parked copy,
 * under `own: null`: the copy sends what is owed, or, where queues last, takes the step itself if
 * the door dies. If the copy was quicker, the instance remembers our request and we answer so.
 */
import { canonicalJson } from "../../definition/json.ts";
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import type { Fact } from "../../kernel/fact.ts";
import type { Instance } from "../../kernel/instance.ts";
import type { Program } from "../../kernel/runner.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { LockedRow } from "../rows/closed.ts";
import { afterCommit, showCaller } from "../step/dispatch.ts";
import { mustBeSent } from "../step/owed.ts";
import { type Plan, plan } from "../step/plan.ts";
import { SIZE_LIMITS } from "../storage/externalized.ts";
import { inTurn } from "../storage/in-turn.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { answerCall, commitCall, type Progress } from "./commit-call.ts";

/** What a caller wants of an instance. */
export type InstanceRequest = Readonly<{
  instanceId: string;
  /** The caller's key, if it gave one, and what it asked for: the same key must ask the same. */
  key?: string;
  body: readonly unknown[];
  /** The fact for this instance as it stands; undefined when there is nothing to ask of it. */
  factFor: (instance: Instance, program: Program) => Fact | undefined | Promise<Fact>;
  /** The fact's name, when it has a ticket to be named by. */
  nameFor: (fact: Fact) => string | undefined;
  /** What the caller is told instead, where a step like this must not be taken. */
  refuse?: (plan: Plan) => EngineError | undefined;
  /** Asked while there is something to do: throws when it is not the caller's to do any more. */
  claim?: (fact: Fact) => Promise<LockedRow>;
}>;

/** `repeated`: the instance remembers that this very request was served before. */
export type Handled = Readonly<{ kind: "done" | "repeated" | "nothing"; image: Image }>;

/** Callers of one instance who meet in a process that owns the store go one after the other. */
export const handleRequest = (world: World, errand: InstanceRequest): Promise<Handled> =>
  inTurn(world, `instance ${errand.instanceId}`, () =>
    answerCall(`instance ${errand.instanceId}`, (progress) => serveInTurn(world, errand, progress)),
  );

async function serveInTurn(
  world: World,
  errand: InstanceRequest,
  progress: Progress,
): Promise<Handled> {
  // Kept short: sixteen of them live in the instance, and they only guard against repeats.
  const request = world.ids.digest(errand.key ?? world.ids.fresh()).slice(0, 12);
  const body = world.ids.digest(canonicalJson(errand.body)).slice(0, 8);
  let parkedAs: string | undefined;
  for (let tries = 0; tries < MAX_TRIES_OF_DOOR; tries++) {
    const image = await loadInstance(world, errand.instanceId);
    if (image === undefined || image.instance.erased) throw notFound(errand.instanceId);
    const served = await serveOnce(world, errand, { request, body, parkedAs, image, progress });
    if (served.kind !== "again") return served;
    parkedAs = served.parkedAs;
    await world.clock.pause(spreadMs(request, tries));
  }
  throw new EngineError("engine/busy", {
    happened: "The instance is too busy to take the request now",
    where: `instance ${errand.instanceId}`,
    fix: "Send the request again in a second, with the same Idempotency-Key.",
    retryable: true,
  });
}

/** `parkedAs`: the name under which an earlier try has parked the request. */
type Try = Readonly<{
  request: string;
  body: string;
  parkedAs: string | undefined;
  image: Image;
  progress: Progress;
}>;
type Again = Readonly<{ kind: "again"; parkedAs: string | undefined }>;

async function serveOnce(
  world: World,
  errand: InstanceRequest,
  { request, body, parkedAs, image, progress }: Try,
): Promise<Handled | Again> {
  const remembered = image.instance.ring.find((entry) => entry.request === request);
  if (remembered && remembered.body !== body) throw keyReused(errand.instanceId);
  if (remembered) return { kind: "repeated", image };
  const fact = await errand.factFor(image.instance, image.program);
  if (fact === undefined) return { kind: "nothing", image };
  const held = await errand.claim?.(fact);
  const name = errand.nameFor(fact) ?? request;
  const want = { name, fact, remember: { request, body, answer: 200 } };
  const owner = { own: null, until: world.clock.now() };
  const planned = await plan(world, image, [want], owner);
  if (planned === undefined) return { kind: "nothing", image };
  if (isTooLarge(planned)) throw tooLarge(errand.instanceId);
  const refusal = errand.refuse?.(planned);
  if (refusal) throw refusal;
  const owes = owesMoreThanTimers(world, planned);
  const { tenant, id: instanceId, version: base } = image.instance;
  const parked = { id: request, body, answer: 200, base };
  const copy = () =>
    world.parking.park({ kind: "parked", tenant, instanceId, name, fact, request: parked });
  const outcome = await commitCall(world, planned, {
    // The copy looks after what is owed by its own name: another attempt needs another copy.
    copy: owes && parkedAs !== name ? copy : undefined,
    show: () =>
      owes
        ? showCaller(world, planned, held)
        : afterCommit(world, planned, undefined, undefined, held),
    progress,
  });
  if (outcome.kind !== "committed") {
    const isParked = owes && world.settings.host.queuesSurvive;
    return { kind: "again", parkedAs: isParked ? name : parkedAs };
  }
  return { kind: "done", image: outcome.image };
}

/** Requests that meet at one instance come back at different moments, each at its own. */
function spreadMs(request: string, tries: number): number {
  let mixed = tries;
  for (let n = 0; n < request.length; n++) mixed = (mixed * 31 + request.charCodeAt(n)) % 9_973;
  return 2 + (mixed % (20 + 10 * tries));
}

/** An incident is for those whom nobody can tell; a caller is told, and nothing is changed. */
export const isTooLarge = ({ fresh }: Plan): boolean =>
  fresh.tickets.some((ticket) => ticket.on === "incident" && ticket.type === "STATE_TOO_LARGE");

export function tooLarge(instanceId: string): EngineError {
  return new EngineError("request/body-too-large", {
    happened: `With this request the instance would be over the limit: ${SIZE_LIMITS}`,
    where: `instance ${instanceId}`,
    fix: "Keep large values elsewhere and pass references to them; nothing was changed.",
    retryable: false,
  });
}

/** Timers are found by the store's index; everything else needs someone to send it. */
export const owesMoreThanTimers = (world: World, { fresh }: Plan): boolean =>
  fresh.outbox.length > 0 || fresh.tickets.some((ticket) => mustBeSent(world, ticket));

export function notFound(instanceId: string): EngineError {
  return new EngineError("instance/not-found", {
    happened: "There is no such instance",
    where: `instance ${instanceId}`,
    fix: "Check the id; ended instances are removed after the retention time.",
    retryable: false,
  });
}

export function keyReused(where: string): EngineError {
  return new EngineError("request/key-reused", {
    happened: "The Idempotency-Key was used before with another request",
    where: `instance ${where}`,
    fix: "Use a new key for a new request; repeat a request with the same body.",
    retryable: false,
  });
}
