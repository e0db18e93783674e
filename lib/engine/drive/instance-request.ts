/**
 * Facts that a request brings: a call that no queue repeats. It decides first. A step that owes only
 * timers is committed. One that owes more has a parked copy, under an owner of `null`: the copy sends
 * what is owed, or, where queues last, takes the step itself if the call dies. If the copy was
 * quicker, the instance remembers the request and the call answers so.
 */
import { canonicalJson } from "../../definition/json.ts";
import { MAX_TRIES_OF_DOOR } from "../../definition/limits.ts";
import type { Fact } from "../../kernel/fact.ts";
import type { Instance } from "../../kernel/instance.ts";
import type { Program } from "../../kernel/runner.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { LockedRow } from "../rows/closed.ts";
import { type Plan, plan } from "../step/plan.ts";
import { noOwner } from "../step/take.ts";
import { SIZE_LIMITS } from "../storage/externalized.ts";
import { inTurn } from "../storage/in-process.ts";
import { type Again, again, retrying } from "../storage/retrying.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { answerCall, commitCall, type Progress } from "./commit-call.ts";

/** What a caller wants of an instance. */
export type InstanceRequest = Readonly<{
  instanceId: string;
  /** The caller's key, if it gave one, and what it asked for: the same key must ask the same. */
  key?: string;
  /** How the caller knows the key, where it is not its Idempotency-Key. */
  keyName?: string;
  body: readonly unknown[];
  /** The fact for this instance as it stands; undefined when there is nothing to ask of it. */
  factFor: (instance: Instance, program: Program) => Fact | undefined | Promise<Fact>;
  /** The fact's name, when it has a ticket to be named by. */
  nameFor: (fact: Fact) => string | undefined;
  /** What the caller gets instead, where a step like this must not be taken. */
  refuse?: (plan: Plan) => EngineError | undefined;
  /** Called while there is something to do: throws when it is not the caller's to do any more. */
  claim?: (fact: Fact) => Promise<LockedRow>;
}>;

/** `repeated`: the instance remembers that this very request was served before. */
export type Handled = Readonly<{ kind: "done" | "repeated" | "nothing"; image: Image }>;

/** Requests to one instance that meet in a process that owns the store go one after the other. */
export const handleRequest = (world: World, asked: InstanceRequest): Promise<Handled> => {
  const where = `instance ${asked.instanceId}`;
  return inTurn(world, where, () =>
    answerCall(where, (progress) => handleInTurn(world, asked, progress)),
  );
};

async function handleInTurn(
  world: World,
  asked: InstanceRequest,
  progress: Progress,
): Promise<Handled> {
  const request: Pending = {
    // Kept short: sixteen of them live in the instance, and they only guard against repeats.
    id: world.ids.digest(asked.key ?? world.ids.fresh()).slice(0, 12),
    body: world.ids.digest(canonicalJson(asked.body)).slice(0, 8),
    progress,
    parkedAs: undefined,
  };
  const where = `instance ${asked.instanceId}`;
  const tries = { tries: MAX_TRIES_OF_DOOR, writer: request.id, where };
  return retrying(world, tries, async () => {
    const image = await loadInstance(world, asked.instanceId);
    if (image === undefined || image.instance.erased) throw notFound(asked.instanceId);
    return handleOnce(world, asked, request, image);
  });
}

type Pending = {
  readonly id: string;
  readonly body: string;
  readonly progress: Progress;
  /** The name under which an earlier try has parked the request. */
  parkedAs: string | undefined;
};

async function handleOnce(
  world: World,
  asked: InstanceRequest,
  request: Pending,
  image: Image,
): Promise<Handled | Again> {
  const { id, body, progress, parkedAs } = request;
  const { tenant, id: instanceId, version: base, ring } = image.instance;
  const remembered = ring.find((entry) => entry.request === id);
  if (remembered && remembered.body !== body) throw keyReused(instanceId, asked.keyName);
  if (remembered) return { kind: "repeated", image };
  const fact = await asked.factFor(image.instance, image.program);
  if (fact === undefined) return { kind: "nothing", image };
  const held = await asked.claim?.(fact);
  const name = asked.nameFor(fact) ?? id;
  const wants = [{ name, fact, remember: { request: id, body, answer: 200 } }];
  const planned = await plan(world, image, { wants, owner: noOwner(world) });
  if (planned === undefined) return { kind: "nothing", image };
  refuseTooLarge(planned);
  const refusal = asked.refuse?.(planned);
  if (refusal) throw refusal;
  const parked = { id, body, answer: 200, base };
  const copy = () => {
    request.parkedAs = name;
    return world.parking.park({ kind: "parked", tenant, instanceId, name, fact, request: parked });
  };
  // The copy sends what is owed by its own name: another attempt needs another copy.
  const needed = parkedAs === name ? undefined : copy;
  const outcome = await commitCall(world, planned, { copy: needed, progress, held });
  return outcome.kind === "committed" ? { kind: "done", image: outcome.image } : again();
}

/**
 * Where there is a caller it gets an error instead of an incident, and nothing is changed. An
 * incident that keeps the caller's fact is not the caller's error.
 */
export function refuseTooLarge({ fresh, before }: Plan): void {
  const incidents = fresh.tickets.filter((ticket) => ticket.on === "incident");
  if (!incidents.some(({ type, kept }) => type === "STATE_TOO_LARGE" && !kept?.fact)) return;
  throw new EngineError("request/body-too-large", {
    happened: `With this request the instance would be over the limit: ${SIZE_LIMITS}`,
    where: `instance ${before.id}`,
    fix: "Keep large values elsewhere and pass references to them; nothing was changed.",
  });
}

export const notFound = (instanceId: string): EngineError =>
  new EngineError("instance/not-found", { where: `instance ${instanceId}` });

export const keyReused = (where: string, name?: string): EngineError =>
  new EngineError("request/key-reused", {
    where: `instance ${where}`,
    ...(name !== undefined && {
      happened: `${name} was used before, for something else`,
      fix: "Use a new id for something new; repeat a request with the same name and payload.",
    }),
  });
