/**
 * A call: another process runs as an instance of its own.
 *
 * 1. What the child is given is computed once, when the call is made, and kept in the ticket: whoever
 *    makes the start, and however late, makes the same one.
 * 2. An awaited child ends once for its caller: the ticket goes with the first word of it.
 * 3. A child that failed throws its error from the call, where boundary events may catch it. One that
 *    ended otherwise than by an error of the model throws a code that says so.
 * 4. A detached call is over as soon as its child is there.
 * 5. A child that cannot begin is an incident at the call; so is an error that nobody catches. To
 *    resolve it calls again, with a new ticket and so with a new child.
 */
import type { Variables } from "../../definition/json.ts";
import { MAX_CALL_DEPTH, MAX_ELEMENT_ID_LENGTH } from "../../definition/limits.ts";
import { quoted } from "../../definition/parsed.ts";
import { closeTicket, note, openTicket, raiseIncident } from "../draft.ts";
import type { ChildEnded } from "../fact.ts";
import type { ChildTicket } from "../instance.ts";
import { Refusal } from "../refusal.ts";
import { catchesAround, type Thrown, throwError } from "./error.ts";
import { demand } from "./evaluate.ts";
import { callAt, spotOf } from "./plan.ts";
import { attempt, push, type Run, writeLocals } from "./run.ts";
import { type Token, tokenAt } from "./state.ts";
import { isContext, lookupFrom, propagate, visibleFrom } from "./variables.ts";

/** A call that has been computed and not been made yet. */
type Calling = Omit<ChildTicket, "id" | "ref" | "element" | "since" | "stamp" | "on">;

/** What a child that failed without an error code throws, by how it ended. */
export const CHILD_FAILED = "CHILD_FAILED";
export const CHILD_TIMED_OUT = "CHILD_TIMED_OUT";
export const CHILD_CANCELLED = "CHILD_CANCELLED";

/** Under this name output mappings find the id of a detached child. */
export const CHILD_ID = "childInstanceId";

/** Computes a call, or refuses it where it would be one inside too many others. */
export async function callOf(run: Run, token: Token): Promise<Calling> {
  const { process: called, binding, passesAll, detached } = callAt(run.plan, token.node);
  const process = await demand(run, { kind: "string", of: called, lookup: lookupFrom(run, token) });
  demandName(process);
  if (!detached) demandShallow(run, process);
  const catches = detached ? undefined : catchesAround(run, token);
  return {
    process,
    ...(binding && { binding }),
    variables: passesAll ? visibleFrom(run, token) : (token.variables ?? {}),
    ...(catches && { catches }),
    ...(detached && { detached }),
  };
}

/** Makes the call. */
export function openCall({ draft }: Run, { id, node }: Token, call: Calling): void {
  openTicket(draft, { on: "child", ref: id, element: node, ...call });
}

/** After its incident was resolved: a new child, with what is visible now. */
export async function callAgain(run: Run, token: Token): Promise<void> {
  openCall(run, token, await callOf(run, token));
}

/** An awaited child has ended. */
export async function childEnded(run: Run, ticket: ChildTicket, fact: ChildEnded): Promise<void> {
  const { childId, status, terminationKind } = fact;
  note(run.draft, "child-ended", ticket.element, { childId, status, terminationKind });
  closeTicket(run.draft, ticket.id);
  const token = tokenAt(run, ticket.ref);
  if (status !== "succeeded") {
    await attempt(run, { token, phase: "run" }, async () => throwError(run, token, errorOf(fact)));
    return;
  }
  takeOver(run, token, fact.result);
  push(run, "complete", token.id);
}

/** A detached child is there. */
export function childStarted(run: Run, ticket: ChildTicket, childId: string): void {
  note(run.draft, "child-started", ticket.element, { childId });
  closeTicket(run.draft, ticket.id);
  const { outputs } = spotOf(run.plan, ticket.element);
  // Nobody has asked for it without an output mapping: it is not everybody's.
  if (outputs.length > 0) writeLocals(run, ticket.ref, { [CHILD_ID]: childId });
  push(run, "complete", ticket.ref);
}

/** The child cannot begin, and never will under this ticket. */
export function childRefused({ draft }: Run, ticket: ChildTicket, message: string): void {
  const { id, ref, element } = ticket;
  closeTicket(draft, id);
  raiseIncident(draft, { type: "CALLED_ELEMENT_ERROR", message, ref, element, phase: "run" });
}

/** With output mappings a child's variables are theirs alone. */
function takeOver(run: Run, token: Token, result: ChildEnded["result"]): void {
  const variables: Variables = isContext(result) ? result : { result: result ?? null };
  if (spotOf(run.plan, token.node).outputs.length > 0) writeLocals(run, token.id, variables);
  else if (callAt(run.plan, token.node).takesAll) propagate(run, token, variables);
}

function errorOf({ childId, status, terminationKind, error }: ChildEnded): Thrown {
  const { variables } = error ?? {};
  const code = status === "failed" ? (error?.code ?? codeOf(terminationKind)) : CHILD_CANCELLED;
  const said = error?.message ?? (status === "failed" ? "It failed." : "It was cancelled.");
  const message = `The child ${childId} has not succeeded. ${said}`;
  return { code, message: error?.code ? said : message, ...(variables && { variables }) };
}

const codeOf = (kind: ChildEnded["terminationKind"]): string =>
  kind === "timeout" ? CHILD_TIMED_OUT : CHILD_FAILED;

function demandName(process: string): void {
  if (process !== "" && process.length <= MAX_ELEMENT_ID_LENGTH) return;
  throw new Refusal(
    "EXTRACT_VALUE_ERROR",
    `The id of the process to call must have 1 to ${MAX_ELEMENT_ID_LENGTH} characters: ${quoted(process)}.`,
  );
}

function demandShallow({ draft: { before } }: Run, process: string): void {
  const { depth = 0 } = before.parent ?? {};
  if (depth < MAX_CALL_DEPTH) return;
  throw new Refusal(
    "CALLED_ELEMENT_ERROR",
    `The call of "${process}" would be the ${MAX_CALL_DEPTH + 1}th inside the other; ${MAX_CALL_DEPTH} is the limit. Look for a process that calls itself without end.`,
  );
}
