import type { Flow } from "../../definition/graph.ts";
import { closeTickets, end, markCompleted, note } from "../draft.ts";
import { Refusal } from "../refusal.ts";
import { demand } from "./evaluate.ts";
import { interruptInside } from "./interrupt.ts";
import { mapOutputs } from "./mapping.ts";
import { type Spot, spotOf } from "./plan.ts";
import { arrive, push, type Run } from "./run.ts";
import { isEmpty, type Joins, type Phase, ROOT, type Token, tokenAt } from "./state.ts";
import { onPath, standing, type Thrown, together } from "./thrown.ts";
import { lookupFrom, own } from "./variables.ts";

/** The second part of a token's life: nothing of it stays armed, and its outputs are mapped. */
export async function complete(run: Run, token: Token): Promise<Phase> {
  if (token.joins !== undefined) throw deadlock(token.node, token.joins);
  if (token.id !== ROOT) closeTickets(run.draft, (ticket) => ticket.ref === token.id);
  await mapOutputs(run, token, spotOf(run.plan, token.node).outputs);
  return "leave";
}

/** The last part: the token goes, and its outgoing flows are taken; the last one ends its scope. */
export async function leave(run: Run, token: Token): Promise<undefined> {
  const { draft, plan } = run;
  if (token.id === ROOT) {
    end(draft, "succeeded", "success");
    return undefined;
  }
  const spot = spotOf(plan, token.node);
  const flows = await chosen(run, token, spot);
  note(draft, "element-completed", token.node);
  markCompleted(draft, token.node);
  if (spot.node.kind === "end" && spot.node.end.as === "terminate") {
    interruptInside(run, token.in, token);
  }
  run.tokens.delete(token.id);
  for (const flow of flows) take(run, token, flow);
  if (flows.length === 0) leavePath(run, token);
  if (isEmpty(run, token.in)) push(run, "complete", token.in);
  return undefined;
}

/** An exclusive gateway takes the first flow whose condition holds, everything else takes all. */
async function chosen(run: Run, token: Token, spot: Spot): Promise<readonly Flow[]> {
  const { node, outgoing } = spot;
  if (node.kind !== "exclusive" || outgoing.length === 0) return outgoing;
  const lookup = lookupFrom(run, token);
  for (const flow of outgoing) {
    if (flow.id === node.otherwise) continue;
    if (flow.condition === undefined) return [flow];
    if (await demand(run, { kind: "boolean", of: flow.condition, lookup })) return [flow];
  }
  const otherwise = outgoing.filter((flow) => flow.id === node.otherwise);
  if (otherwise.length > 0) return otherwise;
  throw new Refusal(
    "CONDITION_ERROR",
    `No condition of the gateway "${node.id}" holds and it has no default flow. Set the variables that its conditions read, then resolve this.`,
  );
}

/** Where a path ends, what it has thrown goes on with the scope that it was in. */
function leavePath(run: Run, { in: scope, thrown }: Token): void {
  const around = tokenAt(run, scope);
  run.tokens.set(scope, onPath(run, around, together([around.thrown, thrown])));
}

function take(run: Run, { in: scope, thrown }: Token, flow: Flow): void {
  note(run.draft, "flow-taken", flow.id);
  const { node, incoming } = spotOf(run.plan, flow.to);
  if (node.kind !== "parallel") {
    arrive(run, scope, flow.to, { thrown });
    return;
  }
  holdPath(run, { scope, flow, thrown });
  if (isJoined(run, { scope, flow, incoming })) {
    arrive(run, scope, flow.to, { thrown: releasePaths(run, { scope, incoming }) });
  }
}

/** Remembers at a join what a path has thrown, until the join is left. */
function holdPath(
  run: Run,
  { scope, flow, thrown }: Readonly<{ scope: number; flow: Flow; thrown: Thrown | undefined }>,
): void {
  const token = tokenAt(run, scope);
  const { joining = {} } = token;
  const held = standing(run, together([own(joining, flow.id), thrown]));
  if (held.length > 0)
    run.tokens.set(scope, { ...token, joining: { ...joining, [flow.id]: held } });
}

/** What the joined paths have thrown together; that of paths which wait on stays. */
function releasePaths(
  run: Run,
  { scope, incoming }: Readonly<{ scope: number; incoming: readonly Flow[] }>,
): Thrown {
  const { joining = {}, ...token } = tokenAt(run, scope);
  const { joins = {} } = token;
  const kept = Object.entries(joining).filter(([id]) => Object.hasOwn(joins, id));
  const left = kept.length > 0 ? { ...token, joining: Object.fromEntries(kept) } : token;
  run.tokens.set(scope, left);
  return together(incoming.map(({ id }) => own(joining, id)));
}

/** A join takes one token of each incoming flow; what is over waits for the next round. */
function isJoined(
  run: Run,
  { scope, flow, incoming }: Readonly<{ scope: number; flow: Flow; incoming: readonly Flow[] }>,
): boolean {
  const { joins = {}, ...token } = tokenAt(run, scope);
  const arrived: Joins = { ...joins, [flow.id]: (own(joins, flow.id) ?? 0) + 1 };
  const isFull = incoming.every(({ id }) => Object.hasOwn(arrived, id));
  const kept = isFull ? withoutOneEach(arrived, incoming) : arrived;
  run.tokens.set(scope, Object.keys(kept).length > 0 ? { ...token, joins: kept } : token);
  return isFull;
}

function withoutOneEach(arrived: Joins, incoming: readonly Flow[]): Joins {
  const ids = new Set(incoming.map(({ id }) => id));
  return Object.fromEntries(
    Object.entries(arrived)
      .map(([id, count]) => [id, ids.has(id) ? count - 1 : count] as const)
      .filter(([, count]) => count > 0),
  );
}

function deadlock(scope: string, joins: Joins): Refusal {
  const flows = Object.keys(joins).join(", ");
  return new Refusal(
    "DEADLOCK",
    `Nothing runs in "${scope}" any more that could complete the joins which these flows have reached: ${flows}. The model has a split that does not match its join; cancel the instance and deploy a mended version.`,
  );
}
