/** A task whose run has ended badly too often: it stands at an incident, and is not run again. */
import type { TaskTicket } from "../../kernel/instance.ts";
import type { Invocation, Verdict } from "../../ports/message.ts";
import { commitAndSend } from "../step/commit-and-send.ts";
import { attemptName } from "../storage/names.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { isUntouched } from "./hand-back.ts";

/** `world` says why. Resolving the incident fails this attempt, and begins another one. */
export function setTaskAside(
  world: World,
  { image, task }: Readonly<{ image: Image; task: TaskTicket }>,
  invocation: Invocation,
): Promise<Verdict> {
  const { id: ticket, attempt, retries } = task;
  const name = attemptName(ticket, attempt);
  const message = `The attempt was given up: ${world.aside ?? "it never came to an end"}.`;
  const left = { retries: Math.max(1, retries - 1) };
  const fact = { kind: "task-failed", ticket, attempt, message, ...left } as const;
  const mine = (current: Image) => isUntouched(current, task);
  return commitAndSend(world, image, { name, fact }, invocation, { mine });
}
