// Dead hints: rows and mailbox entries whose waits are closed. Without a fault none is left. A
// crash may leave some; the next delivery through them removes them.

import { MAX_FAN_OUT_MS } from "../../../lib/definition/limits.ts";
import { instantFrom } from "../../../lib/definition/time/instant.ts";
import { loadInstance } from "../../../lib/engine/storage/stored-instance.ts";
import { queuesOf } from "../world/ports.ts";
import type { SimulatedWorld } from "../world/world.ts";
import { parseMailbox } from "./traffic.ts";
import { must } from "./violation.ts";

export async function checkHints(world: SimulatedWorld): Promise<void> {
  const dead = await deadHints(world);
  if (dead.length === 0) return;
  const isCalm = world.isCalm && world.stage.scenario.restoredAtMs === undefined;
  must(!isCalm, () => `nothing went wrong, and dead hints are left: ${names(dead)}`);
  // A row stays while the end of its wait may still owe something, as long as a fan-out may take.
  if (world.stage.scenario.endsOwe) world.stage.time.pass(MAX_FAN_OUT_MS + LONGEST_LEASE_MS);
  for (const { kind, topic, key } of dead) await comeAlong(world, kind, topic, key);
  await comeToRest(world);
  const left = await deadHints(world);
  must(left.length === 0, () => `dead hints stay for ever: ${names(left)}`);
}

type Hint = Readonly<{ kind: "G" | "Y" | "M"; topic: string; key: string; name: string }>;

const names = (hints: readonly Hint[]): string => hints.map(({ name }) => name).join(", ");

async function deadHints(world: SimulatedWorld): Promise<readonly Hint[]> {
  const { stage, backends } = world;
  const open = new Set<string>();
  for (const id of stage.invariants.lives.keys()) {
    const image = await loadInstance(world.observer().world, id);
    for (const ticket of image?.instance.tickets ?? []) open.add(`${id} ${ticket.id}`);
  }
  const isOpen = (instanceId: string, ticket: string) => open.has(`${instanceId} ${ticket}`);
  return backends.store.items().flatMap((item): Hint[] => {
    const [, kind, topic = "", place = ""] = item.key.pk.split("#");
    if (kind === "M") {
      return parseMailbox(item)
        .subs.filter(({ instanceId, ticket }) => !isOpen(instanceId, ticket))
        .map(({ instanceId, ticket }) => {
          return { kind, topic, key: place, name: `${item.key.pk}: ${instanceId} ${ticket}` };
        });
    }
    const [, instanceId = "", ticket = ""] = item.key.sk.split("#");
    const isRow = (kind === "G" || kind === "Y") && place !== "" && !item.key.sk.startsWith("D#");
    if (!isRow || isOpen(instanceId, ticket)) return [];
    return [{ kind, topic, key: "", name: `${item.key.pk} / ${item.key.sk}` }];
  });
}

async function comeAlong(
  world: SimulatedWorld,
  kind: Hint["kind"],
  name: string,
  key: string,
): Promise<void> {
  const { engine } = world.observer();
  if (kind === "G") await engine.signal({ name });
  if (kind === "Y") await engine.event({ name });
  if (kind !== "M") return;
  const messageId = `along ${name} ${key}`;
  await engine.message({ name, messageId, ...(key !== "" && { correlationKey: key }) });
}

/**
 * Everything that is queued and due is handled, without a fault, by an engine outside the world's
 * control.
 */
async function comeToRest(world: SimulatedWorld): Promise<void> {
  const { engine, clock } = world.observer();
  const { stage, backends } = world;
  for (let round = 0; round < ROUNDS; round++) {
    const invocation = {
      id: `rest-${round}`,
      until: instantFrom(clock.now() + 60_000),
      mayContinue: true,
    };
    const queued = queuesOf(backends).flatMap(([, queue]) =>
      queue.ready().map(({ id }) => ({ queue, id })),
    );
    for (const { queue, id } of queued) {
      await queue.deliver(id, (message) => engine.handle(message, invocation));
    }
    const due = backends.store.items().filter(({ lookAt }) => lookAt !== undefined);
    for (const { key } of due) await engine.wake(key, invocation);
    stage.time.pass(1_000);
    if (queued.length === 0 && due.length === 0) break;
  }
}

const ROUNDS = 50;
const LONGEST_LEASE_MS = 120_000;
