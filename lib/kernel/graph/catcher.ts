/**
 * What catches an error, or anything else that propagates upward from a token.
 *
 * 1. The search goes from the token outward, scope by scope, the token's own element first. The
 *    nearest element with a matching catcher catches it; elements further out do not.
 * 2. On one element an exact catcher takes precedence over a catch-all; of equals, the first in the
 *    source.
 * 3. The thrower says what matches: the search knows no codes.
 * 4. Catchers are attached to the body of a multi-instance activity, not to its items.
 * 5. An interrupting catcher continues in place of its host; any other starts a branch beside it,
 *    and the host with everything it has open stays as it is.
 */
import type { Variables } from "../../definition/json.ts";
import { interrupt } from "./interrupt.ts";
import { type Boundary, spotOf } from "./plan.ts";
import { arrive, type Run } from "./run.ts";
import { enclosing, type Token } from "./state.ts";

/** How a catcher matches what is thrown; undefined: it does not. */
export type Fit = "exact" | "all" | undefined;

export type Catcher = Readonly<{ host: Token; boundary: Boundary }>;

/** The catcher of what is thrown from a token; undefined when there is none in this instance. */
export function catcherOf(
  run: Run,
  from: Token,
  fitOf: (boundary: Boundary) => Fit,
): Catcher | undefined {
  for (const host of hostsAround(run, from)) {
    const { boundaries } = spotOf(run.plan, host.node);
    const boundary =
      boundaries.find((each) => fitOf(each) === "exact") ??
      boundaries.find((each) => fitOf(each) === "all");
    if (boundary !== undefined) return { host, boundary };
  }
  return undefined;
}

/** Every boundary event that could catch something from a token, the nearest first. */
export function boundariesAround(run: Run, from: Token): readonly Boundary[] {
  return hostsAround(run, from).flatMap(({ node }) => spotOf(run.plan, node).boundaries);
}

/** Control continues at the catcher; the variables are local to the event. */
export function goOnAt(run: Run, { host, boundary }: Catcher, variables: Variables): void {
  const thrown = boundary.interrupting ? interrupt(run, host) : host.thrown;
  arrive(run, host.in, boundary.id, { variables, thrown });
}

function hostsAround(run: Run, from: Token): readonly Token[] {
  const hosts: Token[] = [];
  for (let host: Token | undefined = from; host !== undefined; host = enclosing(run, host)) {
    if (host.member === undefined) hosts.push(host);
  }
  return hosts;
}
