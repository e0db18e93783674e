/** Does what is due in the store: overdue timers fire, other due items are sent again. */
import { isDue } from "../../kernel/decide.ts";
import type { TimerTicket } from "../../kernel/instance.ts";
import type { Invocation, Verdict } from "../../ports/message.ts";
import type { Key } from "../../ports/store.ts";
import { handle } from "../drive/handle.ts";
import { earliestTimer } from "../rows/open-tickets.ts";
import { asideOf } from "../step/guarded.ts";
import { timeOf } from "../step/plan.ts";
import { dueOf } from "../storage/keys.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import { MAX_FIRED_AT_ONCE, wakeStart } from "../timer-starts/fire.ts";
import type { World } from "../world.ts";
import { remind } from "./remind.ts";

/** Does what is due at a stored item; says how many timers that fired. */
export async function wake(given: World, key: Key, invocation: Invocation): Promise<number> {
  const world = asideOf(given, invocation);
  const due = dueOf(key);
  if (due?.kind === "instance") return wakeInstance(world, due.instanceId, invocation);
  if (due?.kind === "timer-start") return wakeStart(world, key);
  await remind(world, key);
  return 0;
}

/** Fires what is due, oldest first, and says how many; one that a firing removes is not fired. */
async function wakeInstance(
  world: World,
  instanceId: string,
  invocation: Invocation,
): Promise<number> {
  const { tenant } = world.settings;
  // One that had to be parked stays open for a while: it is not taken twice.
  const taken = new Set<string>();
  while (taken.size < MAX_FIRED_AT_ONCE) {
    const image = await loadInstance(world, instanceId);
    const due = image && firstDue(world, image, taken);
    if (due === undefined) break;
    const message = { kind: "timer", tenant, instanceId, ticket: due.id } as const;
    let verdict: Verdict = { keepForMs: 0 };
    try {
      verdict = await handle(world, message, invocation);
    } finally {
      // No queue would bring this timer back: a parked message sends what its step may still owe.
      if (verdict !== "release") await parkOwed(world, instanceId, due.id);
    }
    if (verdict !== "release") break;
    taken.add(due.id);
  }
  return taken.size;
}

function firstDue(
  world: World,
  { instance }: Image,
  taken: ReadonlySet<string>,
): TimerTicket | undefined {
  const now = timeOf(world, instance);
  const others = instance.tickets.filter(({ id }) => !taken.has(id));
  const first = earliestTimer({ tickets: others });
  return first && isDue(first, now) ? first : undefined;
}

function parkOwed(world: World, instanceId: string, name: string): Promise<void> {
  return world.parking.park({ kind: "owed", tenant: world.settings.tenant, instanceId, name });
}
