/**
 * Parked facts of one instance, taken together: one decide chain, one put, each fact's effects
 * owed by its own name. What is parked is never parked again: a queue that drops doubles could
 * swallow the second copy while the first is being deleted.
 */
import { MAX_REMEMBERED_REQUESTS, MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import { isDue, isWelcome } from "../../kernel/decide.ts";
import type { Fact } from "../../kernel/fact.ts";
import type { Instance } from "../../kernel/instance.ts";
import type { AnyParked, CarriedStart, Invocation, Verdict } from "../../ports/message.ts";
import { isTimer } from "../rows/open-tickets.ts";
import { commitAndSend } from "../step/commit-and-send.ts";
import { CONTENDED_MS } from "../step/commit-with-retry.ts";
import { asideOf } from "../step/guarded.ts";
import { timeOf } from "../step/plan.ts";
import { redeliver } from "../step/redelivery.ts";
import { ownerOf, type Want } from "../step/take.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { hasLost, loadOrCreate } from "./creation.ts";
import { afterNothing, type PostedLook, takePosted } from "./recheck.ts";

/** A parked message by itself. */
export async function advanceOne(
  world: World,
  message: AnyParked,
  invocation: Invocation,
): Promise<Verdict> {
  const [verdict] = await advance(world, [message], invocation);
  return verdict ?? "release";
}

/** Takes up to ten parked messages of one instance; the verdicts are in their order. */
export async function advance(
  given: World,
  messages: readonly AnyParked[],
  invocation: Invocation,
): Promise<readonly Verdict[]> {
  const world = asideOf(given, invocation);
  const [first] = messages;
  if (first === undefined) return [];
  const found = await findOrCreate(world, first.instanceId, messages);
  if (found === undefined) return messages.map(() => "release");
  const isLost = (message: AnyParked) => hasLost(found.instance, startIn(message));
  const others = messages.filter((message) => !isLost(message) && !isPosted(message));
  const result = await takeTogether(world, found, others, invocation);
  if (result === "contended") return messages.map(() => ({ keepForMs: CONTENDED_MS }));
  const verdicts: Verdict[] = [];
  for (const message of messages) {
    if (isLost(message)) verdicts.push("release");
    else if (isPosted(message)) {
      verdicts.push(await takePosted(world, result.image, message, invocation));
    } else verdicts.push(await verdictOn(world, message, result, invocation));
  }
  return verdicts;
}

/** Each start that is carried here may be the one that counts: an earlier one may be out of date. */
async function findOrCreate(
  world: World,
  instanceId: string,
  messages: readonly AnyParked[],
): Promise<Image | undefined> {
  for (const start of messages.flatMap((message) => startIn(message) ?? [])) {
    const found = await loadOrCreate(world, instanceId, start);
    if (found) return found;
  }
  return loadInstance(world, instanceId);
}

/** What was not taken is late or doubled, or a timer that this host's clock finds too early. */
async function verdictOn(
  world: World,
  message: AnyParked,
  { image, taken, left, verdict }: Taken,
  invocation: Invocation,
): Promise<Verdict> {
  if (taken.has(message.name)) return verdict;
  if (left.has(message.name)) return { keepForMs: 0 };
  if (message.kind === "look") return afterNothing(world, image, message, invocation);
  const earlyMs = message.kind === "parked" ? earlyByMs(world, image.instance, message.fact) : 0;
  if (earlyMs > 0) return { keepForMs: earlyMs };
  return redeliver(world, image, { name: message.name, fact: factIn(message) }, invocation);
}

/** What came in vain. A copy of a request, or of a start, does so by design: its call was quicker. */
function factIn(message: Exclude<AnyParked, { kind: "look" }>): Fact["kind"] | undefined {
  if (message.kind === "owed" || message.request !== undefined) return undefined;
  return message.fact.kind === "started" ? undefined : message.fact.kind;
}

type Taken = Readonly<{
  image: Image;
  taken: ReadonlySet<string>;
  /** For which there was no room in the commit. */
  left: ReadonlySet<string>;
  verdict: Verdict;
}>;

/** Commits all that can still be taken, and sends what it owes. */
async function takeTogether(
  world: World,
  found: Image,
  messages: readonly AnyParked[],
  invocation: Invocation,
): Promise<Taken | "contended"> {
  const sent = await commitAndSend(world, found, {
    want: (instance) => wantsOf(world, instance, messages),
    owner: ownerOf(invocation),
    tries: MAX_TRIES_OF_PARKED,
  });
  if (sent.kind === "settled") return { ...sent, taken: sent.plan.took, left: sent.plan.left };
  if (sent.kind !== "gone") return "contended";
  return { image: sent.image ?? found, taken: new Set(), left: new Set(), verdict: "release" };
}

function wantsOf(
  world: World,
  instance: Instance,
  messages: readonly AnyParked[],
): readonly Want[] {
  const now = timeOf(world, instance);
  return messages.flatMap((message): Want[] => {
    if (message.kind === "look") return [{ name: message.name, look: message.ticket }];
    if (message.kind === "owed" || message.fact.kind === "started") return [];
    if (!isWelcome(instance, message.fact, { now })) return [];
    const { name, fact, request } = message;
    if (request === undefined) return [{ name, fact }];
    if (isSettled(instance, request)) return [];
    const { id, body, answer } = request;
    return [{ name, fact, remember: { request: id, body, answer } }];
  });
}

/** Remembered, or so long ago that it cannot be known: its caller never got an answer. */
function isSettled({ ring }: Instance, { id, base }: { id: string; base: number }): boolean {
  if (ring.some(({ request }) => request === id)) return true;
  return ring.length === MAX_REMEMBERED_REQUESTS && (ring[0]?.v ?? 0) > base;
}

function earlyByMs(world: World, instance: Instance, fact: Fact): number {
  if (fact.kind !== "timer-due") return 0;
  const timer = instance.tickets.filter(isTimer).find(({ id }) => id === fact.ticket);
  const now = timeOf(world, instance);
  return timer && !isDue(timer, now) ? timer.dueAt - now : 0;
}

/** One that carries a message changes a mailbox with its step: it is taken by itself. */
const isPosted = (message: AnyParked): message is PostedLook =>
  message.kind === "look" && message.post !== undefined;

const startIn = (message: AnyParked): CarriedStart | undefined =>
  message.kind === "parked" ? message.start : undefined;
