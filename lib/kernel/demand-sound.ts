import { MAX_OPEN_TICKETS } from "../definition/limits.ts";
import type { Draft } from "./draft.ts";
import { Refusal } from "./refusal.ts";
import type { Program } from "./runner.ts";

/** Checks what every runner must leave: a live instance with open tickets, but not too many. */
export function demandSound({ runner }: Program, draft: Draft): void {
  if (draft.ended) return;
  if (draft.tickets.length === 0) {
    throw new Error("The step left the instance live with nothing that could ever wake it.");
  }
  const open = runner.openCount?.(draft) ?? draft.tickets.length;
  if (open > MAX_OPEN_TICKETS) {
    throw new Refusal(
      "TOO_MANY_OPEN_TICKETS",
      `The step would open ${open} tickets, ${MAX_OPEN_TICKETS} is the limit.`,
    );
  }
}
