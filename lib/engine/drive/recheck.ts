/**
 * Lets an open wait take what has come for it: a message in its mailbox, a kept event.
 *
 * A call parks a copy of its look, with the message inside that it is publishing. Where queues last
 * the copy takes the step if the call dies; otherwise it sends what the call's step owes. A copy
 * that finds nothing while the instance is still as the call read it cannot know what the call is
 * about to do, where commits may be seen half applied: it comes again, until the call must be over.
 */
import { MAX_CALL_MS } from "../../definition/limits.ts";
import type { Instance } from "../../kernel/instance.ts";
import type { Invocation, LookMessage, Post, Verdict } from "../../ports/message.ts";
import { boxName, postingMessage, type ReadMailbox } from "../rows/mailbox.ts";
import { commitAndSend } from "../step/commit-and-send.ts";
import { CONTENDED_MS } from "../step/commit-with-retry.ts";
import { plan } from "../step/plan.ts";
import { redeliver } from "../step/redelivery.ts";
import type { KnownBoxes } from "../step/sources.ts";
import { noOwner, ownerOf } from "../step/take.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { commitCall, type Progress } from "./commit-call.ts";
import { refuseTooLarge } from "./instance-request.ts";

/** `again`: others changed the same things meanwhile; a copy may have been parked all the same. */
export type Rechecked = Readonly<
  { kind: "took"; image: Image } | { kind: "nothing" } | { kind: "again"; isParked: boolean }
>;

/** A call looks for a wait; what the wait takes is owed by `name`. */
export async function recheckInRequest(
  world: World,
  image: Image,
  { ticket, name, publishing }: Readonly<{ ticket: string; name: string; publishing?: Publishing }>,
): Promise<Rechecked> {
  const now = world.clock.now();
  const { post, progress } = publishing ?? {};
  const besides = publishing && {
    posting: postingMessage(publishing.post),
    boxes: boxesOf(publishing),
  };
  const wants = [{ name, look: ticket }];
  const planned = await plan(world, image, { wants, owner: noOwner(world), ...besides });
  if (planned === undefined) return { kind: "nothing" };
  const { tenant, id: instanceId, version: base } = image.instance;
  refuseTooLarge(planned);
  const about = { tenant, instanceId, name, ticket, call: { base, at: now } };
  let isParked = false;
  const copy = () => {
    isParked = true;
    return world.parking.park({ kind: "look", ...about, ...(post && { post }) });
  };
  const outcome = await commitCall(world, planned, { copy, progress });
  if (outcome.kind !== "committed") return { kind: "again", isParked };
  return { kind: "took", image: outcome.image };
}

/** What a call is publishing to the wait, into a mailbox that it has read. */
export type Publishing = Readonly<{ post: Post; read: ReadMailbox; progress: Progress }>;

function boxesOf({ post, read: { version, mailbox } }: Publishing): KnownBoxes {
  return new Map([[boxName(post.address), { version, stored: mailbox, mailbox, isTaken: false }]]);
}

export type PostedLook = LookMessage & Readonly<{ post: Post }>;

/** The copy of a call that publishes: takes the step with the message inside, or what is there. */
export async function takePosted(
  world: World,
  found: Image,
  message: PostedLook,
  invocation: Invocation,
): Promise<Verdict> {
  const { name, ticket } = message;
  const step = { want: { name, look: ticket }, owner: ownerOf(invocation) };
  let image = found;
  for (const besides of [{ posting: postingMessage(message.post) }, {}]) {
    const sent = await commitAndSend(world, image, { ...step, ...besides });
    if (sent.kind === "settled") return sent.verdict;
    if (sent.kind !== "gone") return { keepForMs: CONTENDED_MS };
    if (sent.image === undefined) return "release";
    image = sent.image;
  }
  return afterNothing(world, image, message, invocation);
}

/** There was nothing to take: what the name owes is sent, unless the call may still be at it. */
export async function afterNothing(
  world: World,
  image: Image,
  message: LookMessage,
  invocation: Invocation,
): Promise<Verdict> {
  const waitMs = callMayCommitIn(world, image.instance, message);
  return waitMs > 0 ? { keepForMs: waitMs } : redeliver(world, image, message, invocation);
}

/** Later each time; 0 once the instance has moved on, or the call cannot be alive any more. */
function callMayCommitIn(
  world: World,
  { version, tickets }: Instance,
  { call, ticket }: LookMessage,
): number {
  if (call === undefined || !world.settings.host.queuesSurvive) return 0;
  const isAsItWas = version === call.base && tickets.some(({ id }) => id === ticket);
  const ageMs = world.clock.now() - call.at;
  return isAsItWas && ageMs < MAX_CALL_MS ? FIRST_WAIT_MS + Math.max(0, ageMs) : 0;
}

const FIRST_WAIT_MS = 1_000;
