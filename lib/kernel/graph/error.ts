import type { Variables } from "../../definition/json.ts";
import { end, excerpt, note } from "../draft.ts";
import type { Catches } from "../instance.ts";
import { Refusal } from "../refusal.ts";
import { boundariesAround, catcherOf, type Fit, goOnAt } from "./catcher.ts";
import { interruptInside } from "./interrupt.ts";
import type { Boundary } from "./plan.ts";
import type { Run } from "./run.ts";
import { ROOT, type Token } from "./state.ts";

/** A business error that propagates upward. */
export type Thrown = Readonly<{ code: string; message: string; variables?: Variables }>;

/**
 * Throws an error from a token. The nearest element around it, itself included, that has a boundary
 * event for the error is interrupted; on one element the exact code takes precedence over a
 * catch-all. The variables of the error are local to the boundary event. When nothing in this
 * instance catches it but a caller does, or the definition says so, the instance fails with it.
 * Otherwise it is refused, and nothing has changed.
 */
export function throwError(run: Run, from: Token, thrown: Thrown): void {
  const refusal = tryThrow(run, from, thrown);
  if (refusal) throw refusal;
}

/** The same, but returns the refusal instead of throwing it. */
export function tryThrow(run: Run, from: Token, thrown: Thrown): Refusal | undefined {
  const { code, message, variables } = thrown;
  const catcher = catcherOf(run, from, fitFor(code));
  if (catcher === undefined) {
    if (run.draft.failsUncaught || isCaught(run.draft.before.parent?.catches, code)) {
      failWith(run, from, thrown);
      return undefined;
    }
    const why = `No boundary event catches the error "${code}"${message && `: ${message}`}`;
    return new Refusal("UNHANDLED_ERROR_EVENT", why);
  }
  const errorMessage = excerpt(message);
  note(run.draft, "error-caught", catcher.boundary.id, { code, message: errorMessage });
  goOnAt(run, catcher, { ...variables, errorCode: code, errorMessage });
  return undefined;
}

/** The errors of a call from this token that are caught, here or further above. */
export function catchesAround(run: Run, from: Token): Catches | undefined {
  const above = run.draft.before.parent?.catches ?? [];
  const codes = above === "all" ? [undefined] : [...above, ...codesAround(run, from)];
  const named = codes.filter((code) => code !== undefined);
  if (named.length < codes.length) return "all";
  return named.length > 0 ? [...new Set(named)] : undefined;
}

/** An error that leaves the instance ends it; the caller takes the error from there. */
function failWith(run: Run, { node }: Token, { code, message, variables }: Thrown): void {
  interruptInside(run, ROOT);
  const error = { code, message: excerpt(message), element: node };
  end(run.draft, "failed", "failure", { ...error, ...(variables && { variables }) });
}

const isCaught = (catches: Catches = [], code: string): boolean =>
  catches === "all" || catches.includes(code);

function codesAround(run: Run, from: Token): readonly (string | undefined)[] {
  return boundariesAround(run, from).flatMap(({ trigger }) =>
    trigger.on === "error" ? [trigger.code] : [],
  );
}

const fitFor =
  (code: string) =>
  ({ trigger }: Boundary): Fit => {
    if (trigger.on !== "error") return undefined;
    if (trigger.code === code) return "exact";
    return trigger.code === undefined ? "all" : undefined;
  };
