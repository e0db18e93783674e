/**
 * Parked facts of one instance, taken together: one decide chain, one put, each fact's effects
 * owed by its own name. What is parked is never parked again: a queue that drops doubles could
 * swallow the second copy while the first is being deleted.
 */
import { MAX_REMEMBERED_REQUESTS, MAX_TRIES_OF_PARKED } from "../definition/limits.ts";
import { isWelcome } from "../kernel/decide.ts";
import type { Instance } from "../kernel/instance.ts";
import type { Invocation, OwedMessage, ParkedMessage, Verdict } from "../ports/message.ts";
import { commit } from "./commit.ts";
import { loadOrCreate } from "./creation.ts";
import { afterCommit } from "./dispatch.ts";
import { plan, type Want } from "./plan.ts";
import { dropSentRecords, redeliver } from "./redelivery.ts";
import type { Image } from "./stored-instance.ts";
import type { World } from "./world.ts";

type Parked = ParkedMessage | OwedMessage;

/** Takes up to ten parked messages of one instance; the verdicts are in their order. */
export async function advance(
  world: World,
  messages: readonly Parked[],
  invocation: Invocation,
): Promise<readonly Verdict[]> {
  const [first] = messages;
  if (first === undefined) return [];
  const start = messages.find(carriesStart)?.start;
  const found = await loadOrCreate(world, first.instanceId, start);
  // Nothing there: erased, or the message carries a start that lost to another one.
  if (found === undefined) return messages.map(() => "release");
  const result = await takeTogether(world, found, messages, invocation);
  if (result === "contended") return messages.map(() => ({ keepForMs: CONTENDED_MS }));
  const verdicts: Verdict[] = [];
  for (const { name } of messages) {
    const verdict = result.taken.has(name)
      ? result.verdict
      : await redeliver(world, result.image, name, invocation);
    verdicts.push(verdict);
  }
  return verdicts;
}

const CONTENDED_MS = 100;

type Taken = Readonly<{ image: Image; taken: ReadonlySet<string>; verdict: Verdict }>;

/** Commits all that can still be taken, and sends what it owes. */
async function takeTogether(
  world: World,
  found: Image,
  messages: readonly Parked[],
  invocation: Invocation,
): Promise<Taken | "contended"> {
  const owner = { own: invocation.id, until: invocation.until };
  let image = found;
  for (let tries = 0; tries < MAX_TRIES_OF_PARKED; tries++) {
    const wants = wantsOf(world, image.instance, messages);
    const planned = wants.length > 0 ? await plan(world, image, wants, owner) : undefined;
    if (planned === undefined) return { image, taken: new Set(), verdict: "release" };
    const outcome = await commit(world, planned, invocation.id);
    if (outcome.kind === "committed") {
      const sent = await afterCommit(world, planned);
      const verdict = await dropSentRecords(world, outcome.image, sent, invocation.id);
      return { image: outcome.image, taken: new Set(wants.map(({ name }) => name)), verdict };
    }
    if (outcome.kind === "busy") return "contended";
    if (outcome.current === undefined) return { image, taken: new Set(), verdict: "release" };
    image = outcome.current;
  }
  return "contended";
}

function wantsOf(world: World, instance: Instance, messages: readonly Parked[]): readonly Want[] {
  const now = world.clock.now();
  return messages.flatMap((message): Want[] => {
    if (message.kind === "owed" || message.fact.kind === "started") return [];
    if (!isWelcome(instance, message.fact, { now })) return [];
    const { name, fact, request } = message;
    if (request === undefined) return [{ name, fact }];
    if (isSettled(instance, request)) return [];
    const { id, body, answer } = request;
    return [{ name, fact, remember: { request: id, body, answer } }];
  });
}

/** Remembered, or so long ago that nobody can know: its caller never got an answer. */
function isSettled({ ring }: Instance, { id, base }: { id: string; base: number }): boolean {
  if (ring.some(({ request }) => request === id)) return true;
  return ring.length === MAX_REMEMBERED_REQUESTS && (ring[0]?.v ?? 0) > base;
}

const carriesStart = (message: Parked): message is ParkedMessage =>
  message.kind === "parked" && message.start !== undefined;
