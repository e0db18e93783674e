import type { Definition } from "../definition/definition.ts";
import { addDuration, parseDuration } from "../definition/time/duration.ts";
import type { Instant } from "../definition/time/instant.ts";
import type { InstanceError } from "./ending.ts";

/** The deadline of an instance that starts now: the earlier of the start's and the definition's. */
export function deadlineOf(
  { deadline }: Definition,
  now: Instant,
  asked: Instant | undefined,
): Instant | undefined {
  if (deadline === undefined) return asked;
  const duration = parseDuration(deadline.after);
  if (!duration.ok) throw new Error(`The deadline of the definition: ${duration.problem}`);
  const own = addDuration(now, duration.value);
  return asked === undefined || own < asked ? own : asked;
}

/** What an instance fails with when that has passed. */
export function lateError({ deadline = { after: "" } }: Definition): InstanceError {
  const { code, reason: message = "The instance's deadline passed." } = deadline;
  return { ...(code !== undefined && { code }), message };
}
