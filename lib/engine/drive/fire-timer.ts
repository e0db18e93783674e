/** A timer message becomes the fact that its timer is due. */
import { isDue } from "../../kernel/decide.ts";
import type { Invocation, TimerMessage, Verdict } from "../../ports/message.ts";
import { isTimer } from "../rows/open-tickets.ts";
import { takeFact } from "../step/commit-and-send.ts";
import { timeOf } from "../step/plan.ts";
import { redeliver } from "../step/redelivery.ts";
import { loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";

/** Never early: by the later of this host's clock and the instance's own time. */
export async function fireTimer(
  world: World,
  message: TimerMessage,
  invocation: Invocation,
): Promise<Verdict> {
  const image = await loadInstance(world, message.instanceId);
  if (image === undefined) return "release";
  const name = message.ticket;
  const timer = image.instance.tickets.filter(isTimer).find(({ id }) => id === name);
  if (timer === undefined) return redeliver(world, image, { name, fact: "timer-due" }, invocation);
  const now = timeOf(world, image.instance);
  if (!isDue(timer, now)) return { keepForMs: timer.dueAt - now };
  const fact = { kind: "timer-due", ticket: name } as const;
  return takeFact(world, image, { name, fact }, { invocation });
}
