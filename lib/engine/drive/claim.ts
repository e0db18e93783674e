/**
 * An exclusive task is claimed in the store before it runs, under the lease of who claims it. While
 * that lies ahead its run may be at work, and whoever else is handed the task leaves it alone; after
 * that it may have run, and only a person can tell.
 */
import { MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import type { TicketFact } from "../../kernel/fact.ts";
import type { TaskTicket } from "../../kernel/instance.ts";
import type { Invocation } from "../../ports/message.ts";
import { openTask } from "../rows/open-tickets.ts";
import { commit } from "../step/commit.ts";
import { type CommitResult, commitWithRetry } from "../step/commit-with-retry.ts";
import { leaseLeftMs } from "../step/owed.ts";
import { type Besides, planWrite } from "../step/plan.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";

export type Claimed = Readonly<
  | { kind: "claimed"; image: Image }
  /** Another run may be at work on it for so long. */
  | { kind: "held"; forMs: number }
  | { kind: "in-doubt"; fact: TicketFact }
  | Exclude<CommitResult, { kind: "settled" }>
>;

type Claim = Readonly<{
  task: TaskTicket;
  trigger: string;
  invocation: Invocation;
  besides: Besides;
  /** Looks at each image that won against us, and says whether the task is still ours to run. */
  mine: (current: Image) => boolean;
}>;

/** Claims a task for this invocation, unless another one has. */
export async function claim(
  world: World,
  image: Image,
  { task, trigger, invocation, besides, mine }: Claim,
): Promise<Claimed> {
  const { id: own, until } = invocation;
  if (task.claim !== undefined && task.claim !== own) {
    const forMs = claimLeftMs(world, task);
    return forMs > 0 ? { kind: "held", forMs } : { kind: "in-doubt", fact: inDoubt(task) };
  }
  const { id: ticket, attempt } = task;
  const fact = { kind: "task-claimed", ticket, attempt, claim: own } as const;
  const isUnclaimed = ({ instance }: Image) => openTask(instance, ticket)?.claim === undefined;
  const settled = await commitWithRetry(
    world,
    image,
    { name: trigger, fact },
    { own, until },
    { ...besides, mine: (current) => mine(current) && isUnclaimed(current) },
  );
  return settled.kind === "settled" ? { kind: "claimed", image: settled.image } : settled;
}

/** For how long the run that claimed a task may be at work on it. */
export function claimLeftMs(world: World, { claim: by, stamp }: TaskTicket): number {
  return by !== undefined && stamp?.own === by ? leaseLeftMs(world, stamp) : 0;
}

/**
 * Gives back a claim under which nothing was run. Who cannot, because the store stays busy, leaves
 * the task in doubt.
 */
export async function unclaim(
  world: World,
  found: Image,
  ticket: string,
  own: string,
): Promise<Image> {
  let image = found;
  for (let tries = 0; tries < MAX_TRIES_OF_PARKED; tries++) {
    const { instance, program } = image;
    const task = openTask(instance, ticket);
    if (task?.claim !== own) break;
    const { claim: _, ...unclaimed } = task;
    const tickets = instance.tickets.map((open) => (open === task ? unclaimed : open));
    const plan = planWrite(world, program, instance, { ...instance, tickets });
    const outcome = await commit(world, plan, own);
    if (outcome.kind === "committed") return outcome.image;
    if (outcome.kind === "busy") await world.clock.pause(outcome.retryAfterMs);
    if (outcome.kind === "conflict") {
      if (outcome.current === undefined) break;
      image = outcome.current;
    }
  }
  return image;
}

/** The failure of an exclusive task that may have been done. */
export const inDoubt = (task: TaskTicket): Extract<TicketFact, { kind: "task-failed" }> => ({
  kind: "task-failed",
  ticket: task.id,
  attempt: task.attempt,
  message:
    "The task is exclusive and was claimed by a run that never reported: it may have done its work. Look whether it did, then resolve this incident to run it again, or complete the task.",
  retries: 0,
});
