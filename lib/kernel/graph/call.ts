/**
 * A call activity: another process runs as an instance of its own, the called process.
 *
 * 1. The input of the called process is computed once, when the call is made, and kept in the
 *    ticket: every start of it, however late, is the same.
 * 2. An awaited process ends once for its caller: the first notification closes the ticket.
 * 3. A called process that failed throws its error from the call, where boundary events may catch
 *    it. One that ended otherwise than by an error of the model throws a code that says so.
 * 4. A detached call completes as soon as the called process has started.
 * 5. A called process that cannot start is an incident at the call; so is an uncaught error.
 *    Resolving it calls again, with a new ticket and so with a new instance.
 * 6. All of this holds for each item of a batch of calls; the first error that is caught ends them
 *    all.
 */
import type { Variables } from "../../definition/json.ts";
import { MAX_CALL_DEPTH, MAX_ELEMENT_ID_LENGTH } from "../../definition/limits.ts";
import { quoted } from "../../definition/parsed.ts";
import { isBatchItem } from "../batch.ts";
import { closeTicket, openTicket, raiseIncident } from "../draft.ts";
import type { ChildEnded } from "../fact.ts";
import type { Called, ChildTicket } from "../instance.ts";
import { Refusal } from "../refusal.ts";
import { noteOutcome, tokenFor } from "./batch-item.ts";
import { catchesAround, type Thrown, throwError, tryThrow } from "./error.ts";
import { demand } from "./evaluate.ts";
import { callAt, spotOf } from "./plan.ts";
import { attempt, push, type Run, writeLocals } from "./run.ts";
import { type Token, tokenAt } from "./state.ts";
import { stopItem } from "./stop-item.ts";
import { isContext, lookupFrom, outputScope, propagate, visibleFrom } from "./variables.ts";

/** The codes that a called process without an error code throws, by how it ended. */
export const CHILD_FAILED = "CHILD_FAILED";
export const CHILD_TIMED_OUT = "CHILD_TIMED_OUT";
export const CHILD_CANCELLED = "CHILD_CANCELLED";

/** The variable that gives output mappings the instance id of a detached call. */
const CHILD_ID = "childInstanceId";

/** Computes a call, or refuses it where calls would be nested too deeply. */
export async function callOf(run: Run, token: Token): Promise<Called> {
  return calledFrom(run, token, await processOf(run, token));
}

/** Computes which process is called. */
export async function processOf(run: Run, token: Token): Promise<string> {
  const { process: of } = callAt(run.plan, token.node);
  const process = await demand(run, { kind: "string", of, lookup: lookupFrom(run, token) });
  demandName(process);
  return process;
}

/** The call of this process; for a multi-instance body, what all of its items have in common. */
export function calledFrom(run: Run, token: Token, process: string): Called {
  const { binding, passesAll, detached } = callAt(run.plan, token.node);
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

/** Opens the ticket of a call. */
export function openCall({ draft }: Run, { id, node }: Token, call: Called): void {
  openTicket(draft, { on: "child", ref: id, element: node, ...call });
}

/** After its incident was resolved: calls again, with the variables visible now. */
export async function callAgain(run: Run, token: Token): Promise<void> {
  openCall(run, token, await callOf(run, token));
}

/** An awaited process has ended. */
export async function childEnded(run: Run, ticket: ChildTicket, fact: ChildEnded): Promise<void> {
  const { childId, status, terminationKind } = fact;
  noteOutcome(run, "child-ended", ticket, { childId, status, terminationKind });
  if (status !== "succeeded") return childFailed(run, ticket, errorOf(fact));
  const id = tokenFor(run, ticket);
  takeOver(run, tokenAt(run, id), fact.result);
  push(run, "complete", id);
}

async function childFailed(run: Run, ticket: ChildTicket, thrown: Thrown): Promise<void> {
  const token = tokenAt(run, ticket.ref);
  if (isBatchItem(ticket)) {
    const why = tryThrow(run, token, thrown);
    if (why) stopItem(run, ticket, why);
    return;
  }
  closeTicket(run.draft, ticket.id);
  await attempt(run, { token, phase: "run" }, async () => throwError(run, token, thrown));
}

/** A detached process has started. */
export function childStarted(run: Run, ticket: ChildTicket, childId: string): void {
  noteOutcome(run, "child-started", ticket, { childId });
  const token = tokenFor(run, ticket);
  const { outputs } = spotOf(run.plan, ticket.element);
  // Without an output mapping the id is not written: it must not become a global variable.
  if (outputs.length > 0) writeLocals(run, token, { [CHILD_ID]: childId });
  push(run, "complete", token);
}

/** The called process cannot start under this ticket. */
export function childRefused(run: Run, ticket: ChildTicket, message: string): void {
  const { id, ref, element } = ticket;
  const why = { type: "CALLED_ELEMENT_ERROR", message } as const;
  if (isBatchItem(ticket)) {
    stopItem(run, ticket, why);
    return;
  }
  closeTicket(run.draft, id);
  raiseIncident(run.draft, { ...why, ref, element, phase: "run" });
}

/**
 * With output mappings only these see the called process's variables. Without, all of them go to
 * the scope around the call, its inputs included; variables local to a multi-instance item stay
 * local.
 */
function takeOver(run: Run, token: Token, result: ChildEnded["result"]): void {
  const variables: Variables = isContext(result) ? result : { result: result ?? null };
  if (spotOf(run.plan, token.node).outputs.length > 0) writeLocals(run, token.id, variables);
  else if (callAt(run.plan, token.node).takesAll)
    propagate(run, outputScope(run, token), variables);
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
    `The call of "${process}" would be number ${MAX_CALL_DEPTH + 1} of calls that wait inside each other; ${MAX_CALL_DEPTH} is the limit. Look for a process that calls itself without end.`,
  );
}
