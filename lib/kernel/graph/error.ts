import type { Variables } from "../../definition/json.ts";
import { excerpt, note } from "../draft.ts";
import { Refusal } from "../refusal.ts";
import { interrupt } from "./interrupt.ts";
import { type Boundary, spotOf } from "./plan.ts";
import { arrive, type Run } from "./run.ts";
import { enclosing, type Token } from "./state.ts";

/** A business error on its way up. */
export type Thrown = Readonly<{ code: string; message: string; variables?: Variables }>;

/**
 * Throws an error from a token. The nearest element around it, itself included, that has a boundary
 * event for the error is interrupted; on one element the exact code goes before a catch-all. What
 * was thrown is local to the boundary event. Nobody catches it: a refusal, and nothing has changed.
 */
export function throwError(run: Run, from: Token, { code, message, variables }: Thrown): void {
  const catcher = catcherOf(run, from, code);
  if (catcher === undefined) {
    const why = `No boundary event catches the error "${code}"${message && `: ${message}`}`;
    throw new Refusal("UNHANDLED_ERROR_EVENT", why);
  }
  const { host, boundary } = catcher;
  const errorMessage = excerpt(message);
  note(run.draft, "error-caught", boundary.id, { code, message: errorMessage });
  const thrown = interrupt(run, host);
  const locals = { ...variables, errorCode: code, errorMessage };
  arrive(run, host.in, boundary.id, { variables: locals, thrown });
}

type Catcher = Readonly<{ host: Token; boundary: Boundary }>;

function catcherOf(run: Run, from: Token, code: string): Catcher | undefined {
  for (let host: Token | undefined = from; host !== undefined; host = enclosing(run, host)) {
    // Boundary events sit on the body of a loop, not on its members.
    if (host.member !== undefined) continue;
    const { boundaries } = spotOf(run.plan, host.node);
    const boundary =
      boundaries.find(({ trigger }) => trigger.on === "error" && trigger.code === code) ??
      boundaries.find(({ trigger }) => trigger.on === "error" && trigger.code === undefined);
    if (boundary !== undefined) return { host, boundary };
  }
  return undefined;
}
