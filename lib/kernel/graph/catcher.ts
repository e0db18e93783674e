/**
 * Who catches what is thrown inside a process: errors, and whatever else bubbles up from a token.
 *
 * 1. The search goes from the token outward, scope by scope, the token's own element first. The
 *    nearest element with a catcher that fits is taken; what is further out never hears of it.
 * 2. On one element a catcher for exactly this goes before one that catches all; of equals the first
 *    in the source.
 * 3. What fits is said by who throws: the search knows of no codes.
 * 4. Catchers sit on the body of a loop, not on its members.
 * 5. An interrupting catcher goes on in place of its host; any other begins a branch beside it, and
 *    the host with all that it has open stays as it is.
 */
import type { Variables } from "../../definition/json.ts";
import { interrupt } from "./interrupt.ts";
import { type Boundary, spotOf } from "./plan.ts";
import { arrive, type Run } from "./run.ts";
import { enclosing, type Token } from "./state.ts";

/** How a catcher fits what is thrown; undefined: it is for something else. */
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

/** Control goes on at the catcher; what it brings is local to the event. */
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
