/** The whole way of a step: committed, sent, and the records that left dropped; or given to another. */
import type { Invocation, Verdict } from "../../ports/message.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { type CommitResult, commitWithRetry, type Step } from "./commit-with-retry.ts";
import { type AfterCommit, afterCommit } from "./dispatch.ts";
import { dropSentRecords, redeliver } from "./redelivery.ts";
import { ownerOf, parkWant, type Want } from "./take.ts";

type Settled = Extract<CommitResult, { kind: "settled" }>;

/** `verdict` is for the trigger of the step: it may go once everything that the step owes has left. */
export type Sent = Exclude<CommitResult, Settled> | (Settled & Readonly<{ verdict: Verdict }>);

export async function commitAndSend(
  world: World,
  image: Image,
  { leaves, ...step }: Step & Pick<AfterCommit, "leaves">,
): Promise<Sent> {
  const result = await commitWithRetry(world, image, step);
  if (result.kind !== "settled") return result;
  const sent = await afterCommit(world, result.plan, { leaves });
  const verdict = await dropSentRecords(world, result.image, sent, step.owner.owner);
  return { ...result, verdict };
}

/** A fact that a queue has brought: taken, asked for again, or parked. */
export async function takeFact(
  world: World,
  image: Image,
  want: Extract<Want, { fact: unknown }>,
  { invocation, ...how }: Readonly<{ invocation: Invocation }> & Pick<Step, "mine">,
): Promise<Verdict> {
  const { name, fact } = want;
  const sent = await commitAndSend(world, image, { want, owner: ownerOf(invocation), ...how });
  switch (sent.kind) {
    case "settled":
      return sent.verdict;
    case "gone":
      return redeliver(world, sent.image, { name, fact: fact.kind }, invocation);
    case "contended":
    case "overtaken":
      await parkWant(world, image.instance, want);
      world.observe?.({ kind: "outcome-parked", instanceId: image.instance.id });
      return "release";
  }
}
