/**
 * Lets an open wait take what has come for it: a message in its mailbox, a kept event.
 *
 * A call parks a copy of its look before it commits, with the message inside that it is publishing.
 * The copy takes the step if the call dies; otherwise it sends what the call's step owes. A copy
 * that finds nothing while the instance is still as the call read it cannot know what the call is
 * about to do, where commits may be seen half applied: it comes again, until the call must be over.
 */
import { MAX_CALL_MS } from "../definition/limits.ts";
import type { Instance } from "../kernel/instance.ts";
import type { Invocation, LookMessage, Post, Verdict } from "../ports/message.ts";
import { commit } from "./commit.ts";
import { afterCommit, showCaller } from "./dispatch.ts";
import { isTooLarge, owesMoreThanTimers, tooLarge } from "./door.ts";
import { boxName, type ReadMailbox } from "./messages/mailbox.ts";
import { postingMessage } from "./messages/posting.ts";
import { plan } from "./plan.ts";
import { dropSentRecords, redeliver } from "./redelivery.ts";
import { settle } from "./settle.ts";
import type { Sources } from "./sources.ts";
import { type Image, loadInstance } from "./stored-instance.ts";
import type { World } from "./world.ts";

/** `again`: others changed the same things meanwhile; a copy may have been parked all the same. */
export type Looked = Readonly<
  { kind: "took"; image: Image } | { kind: "nothing" } | { kind: "again"; isParked: boolean }
>;

/**
 * A call looks for a wait; what the wait takes is owed by `name`. With queues in memory, a copy that
 * an earlier try has parked under that name will do: a second one would send everything twice.
 */
export async function lookInCall(
  world: World,
  image: Image,
  { ticket, name, publishing }: Readonly<{ ticket: string; name: string; publishing?: Publishing }>,
): Promise<Looked> {
  const now = world.clock.now();
  const post = publishing?.post;
  const besides = publishing
    ? { posting: postingMessage(publishing.post), boxes: boxesOf(publishing) }
    : {};
  const owner = { own: null, until: now };
  const planned = await plan(world, image, [{ name, look: ticket }], owner, besides);
  if (planned === undefined) return { kind: "nothing" };
  const { tenant, id: instanceId, version: base } = image.instance;
  if (isTooLarge(planned)) throw tooLarge(instanceId);
  const isParked = owesMoreThanTimers(world, planned);
  if (isParked && !(publishing?.parkedAs === name && world.settings.volatileQueues)) {
    const about = { tenant, instanceId, name, ticket, call: { base, at: now } };
    await world.parking.park({ kind: "look", ...about, ...(post && { post }) });
  }
  const outcome = await commit(world, planned, null);
  if (outcome.kind !== "committed") return { kind: "again", isParked };
  await showCaller(world, planned);
  return { kind: "took", image: outcome.image };
}

/** What a call is publishing to the wait, into a mailbox that it has read. */
export type Publishing = Readonly<{
  post: Post;
  read: ReadMailbox;
  /** The name under which an earlier try has parked a copy. */
  parkedAs?: string | undefined;
}>;

function boxesOf({ post, read: { version, mailbox } }: Publishing): Sources["boxes"] {
  return new Map([[boxName(post.address), { version, stored: mailbox, mailbox, isTaken: false }]]);
}

/** The copy of a call that publishes: takes the step with the message inside, or what is there. */
export async function takePosted(
  world: World,
  found: Image,
  message: LookMessage & { post: Post },
  invocation: Invocation,
): Promise<Verdict> {
  const { instanceId, name, ticket } = message;
  const owner = { own: invocation.id, until: invocation.until };
  let image: Image | undefined = found;
  for (const besides of [{ posting: postingMessage(message.post) }, {}]) {
    if (image === undefined) return "release";
    const settled = await settle(world, image, { name, look: ticket }, owner, besides);
    if (settled.kind === "settled") {
      const sent = await afterCommit(world, settled.plan);
      return dropSentRecords(world, settled.image, sent, invocation.id);
    }
    if (settled.kind !== "gone") return { keepForMs: CONTENDED_MS };
    image = await loadInstance(world, instanceId);
  }
  return image ? afterNothing(world, image, message, invocation) : "release";
}

const CONTENDED_MS = 100;

/** There was nothing to take: what the name owes is sent, unless the call may still be at it. */
export async function afterNothing(
  world: World,
  image: Image,
  message: LookMessage,
  invocation: Invocation,
): Promise<Verdict> {
  const waitMs = callMayCommitIn(world, image.instance, message);
  return waitMs > 0 ? { keepForMs: waitMs } : redeliver(world, image, message.name, invocation);
}

/** Later each time; 0 once the instance has moved on, or the call cannot be alive any more. */
function callMayCommitIn(
  world: World,
  { version, tickets }: Instance,
  { call, ticket }: LookMessage,
): number {
  if (call === undefined || world.settings.volatileQueues) return 0;
  const isAsItWas = version === call.base && tickets.some(({ id }) => id === ticket);
  const ageMs = world.clock.now() - call.at;
  return isAsItWas && ageMs < MAX_CALL_MS ? FIRST_WAIT_MS + Math.max(0, ageMs) : 0;
}

const FIRST_WAIT_MS = 1_000;
