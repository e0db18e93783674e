/**
 * An item of a batch that failed for good leaves the batch, with an incident. Where there is no
 * room for more incidents, failed items share one.
 */
import type { Variables } from "../../definition/json.ts";
import { MAX_TICKETS_OF_FAILED } from "../../definition/limits.ts";
import type { BatchItem } from "../batch.ts";
import { excerpt, raiseIncident } from "../draft.ts";
import { CALLS, keepFailedItem, MEMBERS } from "../failed-items.ts";
import type { Refusal } from "../refusal.ts";
import { tokenFor } from "./batch-item.ts";
import { type Run, writeLocals } from "./run.ts";

/** Stops the item; the variables of its failure are local to it. */
export function stopItem(
  run: Run,
  ticket: BatchItem,
  { type, message }: Pick<Refusal, "type" | "message">,
  variables?: Variables,
): void {
  if (isFull(run)) {
    const phase = ticket.on === "child" ? CALLS : MEMBERS;
    keepFailedItem(run.draft, ticket, { type, message }, phase);
    return;
  }
  const ref = itemToken(run, ticket, variables);
  const told = excerpt(`Entry ${ticket.member + 1} of the list: ${message}`);
  raiseIncident(run.draft, { type, message: told, ref, element: ticket.element, phase: "run" });
}

/** The item's token, with the variables of its failure. */
export function itemToken(run: Run, ticket: BatchItem, variables: Variables | undefined): number {
  const id = tokenFor(run, ticket);
  if (variables) writeLocals(run, id, variables);
  return id;
}

/** Whether an instance has as many open tickets as failed items may add. */
export const isFull = ({ draft }: Run): boolean => draft.tickets.length >= MAX_TICKETS_OF_FAILED;
