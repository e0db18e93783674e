/**
 * An exclusive task is claimed in the store before it runs, under the lease of the invocation that
 * claims it. During the lease its run may be at work, and every other delivery leaves the task alone;
 * after it the task may have run, and only a person can tell.
 *
 * A batch item is claimed by a record of its own, one for each attempt: thousands of items must not
 * contend for their instance.
 */
import { MIN_RETENTION_MS } from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { TicketFact } from "../../kernel/fact.ts";
import type { Instance, Lease, TaskTicket } from "../../kernel/instance.ts";
import type { Invocation } from "../../ports/message.ts";
import { openTask } from "../rows/open-tickets.ts";
import { type CommitResult, commitWithRetry, rewrite } from "../step/commit-with-retry.ts";
import { leaseLeftMs } from "../step/owed.ts";
import { ownerOf } from "../step/take.ts";
import { encodeBody, parseBody } from "../storage/formats.ts";
import { putAbsent } from "../storage/items.ts";
import { instancePk, itemClaimKey } from "../storage/keys.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import type { Attempt } from "./hand-back.ts";
import { type Drive, isMine, type Position } from "./report.ts";

export type Claimed = Readonly<
  | { kind: "claimed"; image: Image }
  /** Another run may be at work on it for so long. */
  | { kind: "held"; forMs: number }
  | { kind: "in-doubt"; fact: TicketFact }
  | Exclude<CommitResult, { kind: "settled" }>
>;

/** Claims the task of a drive for its invocation, unless another one has. */
export async function claim(drive: Drive, position: Position): Promise<Claimed> {
  const { world, trigger, invocation } = drive;
  const { image, task, sent } = position;
  if (task.member !== undefined) return claimItem(world, image, task, invocation);
  const { id: ticket, attempt } = task;
  const own = invocation.id;
  if (task.claim !== undefined && task.claim !== own) {
    const forMs = claimLeftMs(world, task);
    return claimedBefore(task, forMs);
  }
  const isUnclaimed = ({ instance }: Image) => openTask(instance, ticket)?.claim === undefined;
  const result = await commitWithRetry(world, image, {
    want: { name: trigger, fact: { kind: "task-claimed", ticket, attempt, claim: own } },
    owner: ownerOf(invocation),
    sent,
    mine: (current) => isMine(current, position, invocation) && isUnclaimed(current),
  });
  return result.kind === "settled" ? { kind: "claimed", image: result.image } : result;
}

async function claimItem(
  world: World,
  image: Image,
  task: TaskTicket,
  { id: own, until }: Invocation,
): Promise<Claimed> {
  const found = await putAbsent(world, {
    key: itemKey(world, image, task),
    version: 1,
    body: encodeBody("member-claim", { own, until }),
    // Queues hold nothing for as long as that.
    expiresAt: instantFrom(world.clock.now() + MIN_RETENTION_MS),
  });
  const claim = parseItemClaim(found.body, task);
  if (claim.owner === own) return { kind: "claimed", image };
  const forMs = leaseLeftMs(world, claim);
  return claimedBefore(task, forMs);
}

const claimedBefore = (task: TaskTicket, forMs: number): Claimed =>
  forMs > 0 ? { kind: "held", forMs } : { kind: "in-doubt", fact: inDoubt(task) };

/** Gives back a claim under which nothing was run. If the store stays busy, the task is left in doubt. */
export async function unclaim(world: World, { image, task }: Attempt, own: string): Promise<Image> {
  if (task.member !== undefined) {
    await world.store.commit([{ remove: itemKey(world, image, task), when: "exists" }]);
    return image;
  }
  const result = await rewrite(world, image, own, (instance) => withoutClaim(instance, task, own));
  return result.kind === "contended" ? image : (result.image ?? image);
}

function withoutClaim(instance: Instance, { id }: TaskTicket, own: string): Instance {
  const task = openTask(instance, id);
  if (task?.claim !== own) return instance;
  const { claim: _, ...unclaimed } = task;
  const tickets = instance.tickets.map((open) => (open === task ? unclaimed : open));
  return { ...instance, tickets };
}

/** For how long the run that claimed a task may be at work on it; undefined: the task is unclaimed. */
export async function claimOn(
  world: World,
  { image, task }: Attempt,
): Promise<Readonly<{ leftMs: number }> | undefined> {
  if (task.member === undefined) {
    return task.claim === undefined ? undefined : { leftMs: claimLeftMs(world, task) };
  }
  const [item] = await world.store.get([itemKey(world, image, task)]);
  return item && { leftMs: leaseLeftMs(world, parseItemClaim(item.body, task)) };
}

const claimLeftMs = (world: World, { claim: by, lease }: TaskTicket): number =>
  by !== undefined && lease?.owner === by ? leaseLeftMs(world, lease) : 0;

/** The failure of an exclusive task that may have been done. */
export const inDoubt = (task: TaskTicket): Extract<TicketFact, { kind: "task-failed" }> => ({
  kind: "task-failed",
  ticket: task.id,
  attempt: task.attempt,
  message:
    "The task is exclusive and was claimed by a run that never reported: it may have done its work. Look whether it did, then resolve this incident to run it again, or complete the task.",
  retries: 0,
});

const itemKey = ({ settings }: World, { instance }: Image, { id, attempt }: TaskTicket) =>
  itemClaimKey(instancePk(settings.tenant, instance.id), id, attempt);

function parseItemClaim(body: Uint8Array, { id: trigger }: TaskTicket): Lease {
  const { own, until } = parseBody("member-claim", body) as { own: string; until: Instant };
  return { trigger, owner: own, expiresAt: until };
}
