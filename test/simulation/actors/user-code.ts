// What task handlers do in simulated worlds.
import type { Variables } from "../../../lib/definition/json.ts";
import type { TaskOutcome } from "../../../lib/ports/tasks.ts";
import type { Handler } from "../scenarios/scenario.ts";

export const done = (variables: Variables): TaskOutcome => ({ kind: "completed", variables });

/** Succeeds at once. */
export function does(what: string): Handler {
  return { outcome: () => done({ [what]: "done" }) };
}

/** Fails on its first attempts. */
export function flaky(failures: number): Handler {
  return {
    outcome: ({ attempt, element }) =>
      attempt <= failures
        ? { kind: "failed", message: `attempt ${attempt} broke` }
        : done({ [element]: attempt }),
  };
}

/** Fails until the variable `mended` is set. */
export function unlessMended(what: string): Handler {
  return {
    outcome: (_, { mended }) =>
      mended ? done({ [what]: "done" }) : { kind: "failed", message: `${what} is broken` },
  };
}

/** As `handler`, but fails for tickets that a later version has opened. */
export function untilVersion(last: number, handler: Handler): Handler {
  return {
    ...handler,
    outcome: (about, ...given) =>
      Number(/^k(\d+)/.exec(about.ticket)?.[1]) > last
        ? { kind: "failed", message: "enough of this" }
        : handler.outcome(about, ...given),
  };
}
