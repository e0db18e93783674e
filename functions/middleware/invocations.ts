import type { Context } from "aws-lambda";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import type { Clock } from "../../lib/ports/clock.ts";
import type { Ids } from "../../lib/ports/ids.ts";
import type { Invocation } from "../../lib/ports/message.ts";

/** What is left of a function's time when it has to come to its end. */
export const RESERVE_MS = 1_000;

/** How long the function may still work. */
export function msLeft(context: Pick<Context, "getRemainingTimeInMillis">): number {
  return Math.max(0, context.getRemainingTimeInMillis() - RESERVE_MS);
}

/**
 * A name of its own for each delivery, so that nobody takes the work of an earlier one for his; it
 * is stored with every step, so it is short.
 */
export function invocationOf(
  context: Pick<Context, "getRemainingTimeInMillis">,
  { clock, ids }: Readonly<{ clock: Pick<Clock, "now">; ids: Ids }>,
  mayContinue = false,
): Invocation {
  return {
    id: ids.digest(ids.fresh()).slice(0, 12),
    until: instantFrom(clock.now() + msLeft(context)),
    mayContinue,
  };
}
