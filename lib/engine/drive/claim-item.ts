/**
 * An exclusive member is claimed by an item of its own, one for each attempt: thousands of them must
 * not stand in line for their instance. Who finds the claim of another leaves the member alone while
 * that one may be at work, and after that nobody but a person can tell whether it was done.
 */
import { MIN_RETENTION_MS } from "../../definition/limits.ts";
import { type Instant, instantFrom } from "../../definition/time/instant.ts";
import type { TaskTicket } from "../../kernel/instance.ts";
import type { Invocation } from "../../ports/message.ts";
import { leaseLeftMs } from "../step/owed.ts";
import { encodeBody, parseBody } from "../storage/formats.ts";
import { instancePk, itemClaimKey } from "../storage/keys.ts";
import { putAbsent } from "../storage/put-absent.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { type Claimed, inDoubt } from "./claim.ts";

/** Claims an attempt of a member for this invocation, unless another one has. */
export async function claimItem(
  world: World,
  image: Image,
  task: TaskTicket,
  { id: own, until }: Invocation,
): Promise<Claimed> {
  const found = await putAbsent(world, {
    key: keyOf(world, image, task),
    version: 1,
    body: encodeBody("member-claim", { own, until }),
    // Queues hold nothing for as long as that.
    expiresAt: instantFrom(world.clock.now() + MIN_RETENTION_MS),
  });
  const claim = parseClaim(found.body);
  if (claim.own === own) return { kind: "claimed", image };
  const forMs = leaseLeftMs(world, { by: task.id, ...claim });
  return forMs > 0 ? { kind: "held", forMs } : { kind: "in-doubt", fact: inDoubt(task) };
}

/** Gives back a claim under which nothing was run; who cannot leaves the member in doubt. */
export async function unclaimItem(world: World, image: Image, task: TaskTicket): Promise<Image> {
  await world.store.commit([{ remove: keyOf(world, image, task), when: "exists" }]);
  return image;
}

/** For how long the run that claimed an attempt may be at work on it. */
export async function itemClaimLeftMs(
  world: World,
  image: Image,
  task: TaskTicket,
): Promise<number> {
  const claim = await claimOf(world, image, task);
  return claim ? leaseLeftMs(world, { by: task.id, ...claim }) : 0;
}

/** Whether somebody has claimed the attempt. */
export async function isItemClaimed(
  world: World,
  image: Image,
  task: TaskTicket,
): Promise<boolean> {
  return (await claimOf(world, image, task)) !== undefined;
}

async function claimOf(world: World, image: Image, task: TaskTicket) {
  const [item] = await world.store.get([keyOf(world, image, task)]);
  return item && parseClaim(item.body);
}

const keyOf = ({ settings }: World, { instance }: Image, { id, attempt }: TaskTicket) =>
  itemClaimKey(instancePk(settings.tenant, instance.id), id, attempt);

function parseClaim(body: Uint8Array): { own: string; until: Instant } {
  return parseBody("member-claim", body) as { own: string; until: Instant };
}
