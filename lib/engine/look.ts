/** Lets an open wait take what has come for it: a message in its mailbox, a kept event. */
import type { Ticket } from "../kernel/instance.ts";
import { commit } from "./commit.ts";
import { afterCommit, showCaller } from "./dispatch.ts";
import { isTooLarge, owesMoreThanTimers, tooLarge } from "./door.ts";
import type { Posting } from "./messages/posting.ts";
import { type Plan, plan } from "./plan.ts";
import { dropSentRecords } from "./redelivery.ts";
import { settle } from "./settle.ts";
import type { Image } from "./stored-instance.ts";
import type { Deliverer } from "./topics/fared.ts";
import type { World } from "./world.ts";

/**
 * `again`: others changed the same things meanwhile, read them anew. `owes`: what the call would
 * post with this step leads to more, and a copy of the look could not find it before the commit.
 */
export type Looked = Readonly<
  | { kind: "took"; plan: Plan; image: Image }
  | { kind: "nothing" }
  | { kind: "again" }
  | { kind: "owes" }
>;

/** What the wait takes is owed by `name`; a call parks a copy of the look before it commits. */
export async function lookFor(
  world: World,
  image: Image,
  about: Readonly<{ ticket: Ticket; name: string; posting?: Posting }>,
  by: Deliverer,
): Promise<Looked> {
  return by === "call" ? lookInCall(world, image, about) : lookAsStep(world, image, about, by);
}

async function lookInCall(
  world: World,
  image: Image,
  { ticket: { id: ticket }, name, posting }: Parameters<typeof lookFor>[2],
): Promise<Looked> {
  const owner = { own: null, until: world.clock.now() };
  const besides = posting ? { posting } : {};
  const planned = await plan(world, image, [{ name, look: ticket }], owner, besides);
  if (planned === undefined) return { kind: "nothing" };
  const { tenant, id: instanceId } = image.instance;
  if (isTooLarge(planned)) throw tooLarge(instanceId);
  if (owesMoreThanTimers(world, planned)) {
    if (posting) return { kind: "owes" };
    await world.parking.park({ kind: "look", tenant, instanceId, name, ticket });
  }
  const outcome = await commit(world, planned, null);
  if (outcome.kind !== "committed") return { kind: "again" };
  await showCaller(world, planned);
  return { kind: "took", plan: planned, image: outcome.image };
}

async function lookAsStep(
  world: World,
  image: Image,
  { ticket, name, posting }: Parameters<typeof lookFor>[2],
  { id: own, until }: Exclude<Deliverer, "call">,
): Promise<Looked> {
  const want = { name, look: ticket.id };
  const settled = await settle(world, image, want, { own, until }, posting ? { posting } : {});
  if (settled.kind === "gone") return { kind: "nothing" };
  if (settled.kind !== "settled") return { kind: "again" };
  const sent = await afterCommit(world, settled.plan);
  await dropSentRecords(world, settled.image, sent, own);
  return { kind: "took", plan: settled.plan, image: settled.image };
}
