/**
 * A member of a family that failed for good leaves it, with an incident. Where there is no room for
 * more of these, failed members share one.
 */
import type { Variables } from "../../definition/json.ts";
import { MAX_TICKETS_OF_FAILED } from "../../definition/limits.ts";
import { excerpt, raiseIncident } from "../draft.ts";
import type { Member } from "../family.ts";
import type { Refusal } from "../refusal.ts";
import { CALLS, MEMBERS, shelveMember } from "../shelve.ts";
import { tokenFor } from "./member.ts";
import { type Run, writeLocals } from "./run.ts";

/** Stops it; what it brought along is local to it. */
export function stopMember(
  run: Run,
  ticket: Member,
  { type, message }: Pick<Refusal, "type" | "message">,
  variables?: Variables,
): void {
  if (isFull(run)) {
    const phase = ticket.on === "child" ? CALLS : MEMBERS;
    shelveMember(run.draft, ticket, { type, message }, phase);
    return;
  }
  const ref = memberToken(run, ticket, variables);
  const told = excerpt(`Entry ${ticket.member + 1} of the list: ${message}`);
  raiseIncident(run.draft, { type, message: told, ref, element: ticket.element, phase: "run" });
}

/** Its own token, with what it brought along. */
export function memberToken(run: Run, ticket: Member, variables: Variables | undefined): number {
  const id = tokenFor(run, ticket);
  if (variables) writeLocals(run, id, variables);
  return id;
}

/** Whether an instance has as many tickets open as failed members may make it have. */
export const isFull = ({ draft }: Run): boolean => draft.tickets.length >= MAX_TICKETS_OF_FAILED;
