import type { Context } from "aws-lambda";
import { instantFrom } from "../../lib/definition/time/instant.ts";
import type { Clock } from "../../lib/ports/clock.ts";
import type { Ids } from "../../lib/ports/ids.ts";
import type { Invocation } from "../../lib/ports/message.ts";

/** The time that a function keeps in reserve to finish. */
export const RESERVE_MS = 1_000;

/** How long the function may still work. */
export function msLeft(context: Pick<Context, "getRemainingTimeInMillis">): number {
  return Math.max(0, context.getRemainingTimeInMillis() - RESERVE_MS);
}

/**
 * A unique id for each delivery, so that none takes the work of an earlier one for its own; it is
 * stored with every step, so it is short.
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
