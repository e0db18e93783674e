/**
 * A trigger that comes back after its ticket is gone: somebody took its step and may have died
 * before everything was sent. Rule: look what `by` this trigger is still open; leave it to a
 * living owner; otherwise take it over under the version, send it, and never run it here. The
 * take-over makes a slow first owner notice, at its next commit, that it is no longer alone.
 */
import { MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import type { Instance } from "../../kernel/instance.ts";
import type { Invocation, Verdict } from "../../ports/message.ts";
import type { Observation } from "../observation.ts";
import type { Entries } from "../rows/change.ts";
import { isTopicTicket, rowKey } from "../rows/wait-row.ts";
import { readMany } from "../storage/read-many.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { commit } from "./commit.ts";
import { rearm, send } from "./dispatch.ts";
import { isNothing, leaseLeftMs, mustBeSent, owedBy, ownersOf } from "./owed.ts";
import { planWrite } from "./plan.ts";
import type { Owner } from "./take.ts";

/** Sends what `name` still owes on this instance, then lets it go; `fact` is what came in vain. */
export async function redeliver(
  world: World,
  found: Image,
  name: string,
  { id: own, until }: Invocation,
  fact?: Extract<Observation, { kind: "stale" }>["fact"],
): Promise<Verdict> {
  const { id: instanceId } = found.instance;
  let image = found;
  for (let tries = 0; tries < MAX_TRIES_OF_PARKED; tries++) {
    const entries = owedBy(image.instance, name);
    if (isNothing(entries)) {
      if (fact !== undefined) world.observe?.({ kind: "stale", instanceId, fact });
      return "release";
    }
    const waitMs = leaseLeft(world, entries, own);
    if (waitMs > 0) {
      world.observe?.({ kind: "left-to-owner", instanceId });
      return { keepForMs: waitMs };
    }
    const taken = await takeOver(world, image, name, { own, until });
    if (taken.kind === "busy") return { keepForMs: taken.retryAfterMs };
    if (taken.kind === "moved") continue;
    if (taken.kind === "conflict") {
      if (taken.current === undefined) return "release";
      image = taken.current;
      continue;
    }
    const owed = owedBy(taken.image.instance, name);
    if (!(await areRowsThere(world, taken.image.instance, owed))) {
      world.observe?.({ kind: "fenced", instanceId });
      return HALF_SEEN;
    }
    const sent = await send(world, taken.image.instance, owed);
    return dropSentRecords(world, taken.image, sent, own);
  }
  return CONTENDED;
}

/**
 * Records that have left are dropped before their trigger goes; only by who sent them. A terminal
 * instance keeps them, unless queues are in memory and a restart would send them once more.
 */
export async function dropSentRecords(
  world: World,
  found: Image,
  sent: ReadonlySet<string>,
  own: string | null,
): Promise<Verdict> {
  let image = found;
  for (let tries = 0; image.instance.outbox.some(({ id }) => sent.has(id)); tries++) {
    if (tries === MAX_TRIES_OF_PARKED) return CONTENDED;
    const { instance, program } = image;
    if (instance.status !== "live" && world.settings.host.queuesSurvive) return "release";
    const outbox = instance.outbox.filter(({ id }) => !sent.has(id));
    const plan = planWrite(world, program, instance, { ...instance, outbox });
    const outcome = await commit(world, plan, own);
    if (outcome.kind === "busy") return { keepForMs: outcome.retryAfterMs };
    if (outcome.kind === "committed") {
      await rearm(world, plan);
      return "release";
    }
    if (outcome.kind === "moved") continue;
    if (outcome.current === undefined) return "release";
    image = outcome.current;
  }
  return "release";
}

/**
 * Somebody else's commit may be seen half applied: a wait without its row. What was broadcast could
 * then pass by without being noticed, so nobody looks for it before both are there.
 */
async function areRowsThere(world: World, instance: Instance, owed: Entries): Promise<boolean> {
  const waits = owed.tickets.filter(isTopicTicket).filter((it) => mustBeSent(world, it));
  const keys = waits.flatMap((ticket) => rowKey(instance, ticket) ?? []);
  const rows = await readMany(world.store, keys);
  return rows.every((row) => row !== undefined);
}

const HALF_SEEN: Verdict = { keepForMs: 1_000 };

/** Others keep winning: the message comes back when they may be done. */
const CONTENDED: Verdict = { keepForMs: 100 };

/** How long a living owner should still be left alone; a courtesy, safety does not rest on it. */
function leaseLeft(world: World, entries: Entries, own: string): number {
  const others = ownersOf(entries).filter((stamp) => stamp.own !== own);
  return Math.max(0, ...others.map((stamp) => leaseLeftMs(world, stamp)));
}

async function takeOver(world: World, image: Image, name: string, owner: Owner) {
  const { instance, program } = image;
  const others = ownersOf(owedBy(instance, name)).some(({ own }) => own !== owner.own);
  if (!others) return { kind: "committed", image } as const;
  const plan = planWrite(world, program, instance, restamped(instance, name, owner));
  const outcome = await commit(world, plan, owner.own);
  if (outcome.kind === "committed") {
    world.observe?.({ kind: "taken-over", instanceId: instance.id, name });
  }
  return outcome;
}

function restamped(instance: Instance, name: string, owner: Owner): Instance {
  const restamp = <T extends Instance["tickets"][number] | Instance["outbox"][number]>(entry: T) =>
    entry.stamp?.by === name ? { ...entry, stamp: { by: name, ...owner } } : entry;
  return {
    ...instance,
    tickets: instance.tickets.map(restamp),
    outbox: instance.outbox.map(restamp),
  };
}
