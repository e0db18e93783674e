// What was refused for certain never happens.
import { findTicket } from "../../../lib/kernel/batch.ts";
import type { Stage } from "../world/stage.ts";

export function checkRefused(stage: Stage): void {
  for (const { instanceId, ticket } of stage.refused) {
    const life = stage.invariants.lives.get(instanceId);
    const what = ticket === undefined ? `the start of ${instanceId}` : `${ticket} of ${instanceId}`;
    const isAsItWas =
      ticket === undefined
        ? life === undefined
        : life !== undefined && findTicket(life.instance.tickets, ticket) !== undefined;
    stage.demand(isAsItWas, `${what} was refused, and happened`);
  }
}
