/**
 * A trigger that comes back after its ticket is gone: its step was taken, by an invocation that may
 * have died before everything was sent. Rule: what this trigger still owes is left to a living owner;
 * otherwise it is taken over under the version, sent, and never run here. The take-over makes a slow
 * first owner notice, at its next commit, that it is no longer alone. Tasks that a queue of this very
 * process holds were sent, and are left alone.
 */
import type { Instance, Lease } from "../../kernel/instance.ts";
import type { Invocation, Verdict } from "../../ports/message.ts";
import type { Entries } from "../rows/open-tickets.ts";
import { isTopicTicket, rowKey } from "../rows/wait-row.ts";
import { readMany } from "../storage/items.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { Observation, World } from "../world.ts";
import { rewrite } from "./commit-with-retry.ts";
import { rearm, send } from "./dispatch.ts";
import { isNothing, leaseLeftMs, mustBeSent, ownersOf, unsentBy } from "./owed.ts";
import { type Owner, ownerOf } from "./take.ts";

type Returned = Readonly<{
  name: string;
  /** What came in vain, where that is worth a report. */
  fact?: Extract<Observation, { kind: "stale" }>["fact"] | undefined;
}>;

/** Sends what `name` still owes on this instance, then lets the trigger go. */
export async function redeliver(
  world: World,
  found: Image | undefined,
  { name, fact }: Returned,
  invocation: Invocation,
): Promise<Verdict> {
  if (found === undefined) return "release";
  const { id: instanceId } = found.instance;
  const { id: own } = invocation;
  let waitMs = 0;
  const taken = await rewrite(world, found, own, (instance) => {
    const unsent = unsentBy(world, instance, name);
    const others = ownersOf(unsent).filter((lease) => lease.owner !== own);
    waitMs = Math.max(0, ...others.map((lease) => leaseLeftMs(world, lease)));
    if (others.length === 0 || waitMs > 0) return instance;
    return takenOver(instance, unsent, ownerOf(invocation));
  });
  if (taken.kind === "contended") return { keepForMs: taken.retryAfterMs };
  if (taken.image === undefined) return "release";
  const owed = unsentBy(world, taken.image.instance, name);
  if (isNothing(owed)) {
    if (fact !== undefined) world.observe?.({ kind: "stale", instanceId, fact });
    return "release";
  }
  // A courtesy to a living owner: safety does not rest on it.
  if (waitMs > 0) {
    world.observe?.({ kind: "left-to-owner", instanceId });
    return { keepForMs: waitMs };
  }
  if (taken.kind === "settled") world.observe?.({ kind: "taken-over", instanceId, name });
  if (!(await areRowsThere(world, taken.image.instance, owed))) {
    world.observe?.({ kind: "fenced", instanceId });
    return HALF_SEEN;
  }
  const sent = await send(world, taken.image.instance, owed);
  return dropSentRecords(world, taken.image, sent, own);
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
  const dropped = await rewrite(world, found, own, (instance) => {
    if (!instance.outbox.some(({ id }) => sent.has(id))) return instance;
    if (instance.status !== "live" && world.settings.host.queuesSurvive) return instance;
    const outbox = instance.outbox.filter(({ id }) => !sent.has(id));
    return { ...instance, outbox };
  });
  if (dropped.kind === "contended") return { keepForMs: dropped.retryAfterMs };
  if (dropped.kind === "settled") await rearm(world, dropped.plan);
  return "release";
}

/**
 * The commit of another process may be seen half applied: a wait without its row. A broadcast could
 * then pass by unnoticed, so what the wait missed is sent only when both are there.
 */
async function areRowsThere(world: World, instance: Instance, owed: Entries): Promise<boolean> {
  const waits = owed.tickets.filter(isTopicTicket).filter((it) => mustBeSent(world, it));
  const keys = waits.flatMap((ticket) => rowKey(instance, ticket) ?? []);
  const rows = await readMany(world.store, keys);
  return rows.every((row) => row !== undefined);
}

const HALF_SEEN: Verdict = { keepForMs: 1_000 };

function takenOver(instance: Instance, { tickets, outbox }: Entries, owner: Owner): Instance {
  const taken = new Set([...tickets, ...outbox].map(({ id }) => id));
  const takeOver = <T extends Readonly<{ id: string; lease?: Lease }>>(entry: T) =>
    entry.lease && taken.has(entry.id)
      ? { ...entry, lease: { trigger: entry.lease.trigger, ...owner } }
      : entry;
  return {
    ...instance,
    tickets: instance.tickets.map(takeOver),
    outbox: instance.outbox.map(takeOver),
  };
}
