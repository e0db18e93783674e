import type { Flow } from "../../definition/graph.ts";
import { closeTickets, end, markCompleted, note, noteVisit } from "../draft.ts";
import { Refusal } from "../refusal.ts";
import { demand } from "./evaluate.ts";
import { interruptInside } from "./interrupt.ts";
import { deadlock, leaveJoin, reachJoin } from "./join.ts";
import { handOut, leaveItem } from "./loop.ts";
import { mapOutputs } from "./mapping.ts";
import { type Spot, spotOf } from "./plan.ts";
import { arrive, leavePath, push, type Run } from "./run.ts";
import { isEmpty, type Phase, ROOT, type Token } from "./state.ts";
import { lookupFrom } from "./variables.ts";

/** The second phase of a token: its tickets are closed and its outputs mapped. */
export async function complete(run: Run, token: Token): Promise<Phase> {
  if (token.joins !== undefined) throw deadlock(token.node, token.joins);
  if (token.id !== ROOT) closeTickets(run.draft, (ticket) => ticket.ref === token.id);
  const { node, outputs } = spotOf(run.plan, token.node);
  if (token.body) handOut(run, token, token.body, node.loop);
  else await mapOutputs(run, token, outputs);
  return "leave";
}

/**
 * The last phase: the token is removed and its outgoing flows are taken; the last token ends its
 * scope.
 */
export async function leave(run: Run, token: Token): Promise<undefined> {
  const { draft, plan } = run;
  if (token.id === ROOT) {
    end(draft, "succeeded", "success");
    return undefined;
  }
  const spot = spotOf(plan, token.node);
  if (token.member !== undefined) return leaveItem(run, token, token.member);
  const flows = await chosen(run, token, spot);
  noteVisit(draft, "element-completed", { element: token.node, occurrence: token.id });
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

function take(run: Run, { in: scope, thrown }: Token, flow: Flow): void {
  note(run.draft, "flow-taken", flow.id);
  const { node, incoming } = spotOf(run.plan, flow.to);
  if (node.kind !== "parallel") arrive(run, scope, flow.to, { thrown });
  else if (reachJoin(run, { scope, flow, incoming, thrown })) {
    arrive(run, scope, flow.to, { thrown: leaveJoin(run, scope, incoming) });
  }
}
