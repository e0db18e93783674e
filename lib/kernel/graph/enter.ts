import { throwError } from "./error.ts";
import { demand, valueFrom } from "./evaluate.ts";
import { mapInputs } from "./mapping.ts";
import { type Spot, spotOf } from "./plan.ts";
import { arrive, type Run } from "./run.ts";
import { type Phase, type Token, tokenAt } from "./state.ts";
import { offer, orderOf, takeResult } from "./task.ts";
import { arm, armingOf, boundaryArmings } from "./timer.ts";
import { lookupFrom } from "./variables.ts";

/**
 * The first part of a token's life: input mappings, then what the element is there for. Everything
 * is computed before anything is opened, so that a refusal leaves nothing behind and entering can
 * be tried again from the start. Gives the next part, or nothing while the element waits.
 */
export async function enter(run: Run, arrived: Token): Promise<Phase | undefined> {
  const spot = spotOf(run.plan, arrived.node);
  await mapInputs(run, arrived, spot.inputs);
  return behave(run, tokenAt(run, arrived.id), spot);
}

async function behave(run: Run, token: Token, { node, starts }: Spot): Promise<Phase | undefined> {
  switch (node.kind) {
    case "process":
    case "scope": {
      arm(run, token, await boundaryArmings(run, token));
      for (const start of starts) arrive(run, token.id, start);
      return undefined;
    }
    case "task": {
      const boundaries = await boundaryArmings(run, token);
      const order = await orderOf(run, token);
      arm(run, token, boundaries);
      offer(run, token, order);
      return undefined;
    }
    case "timer": {
      const boundaries = await boundaryArmings(run, token);
      const own = await armingOf(run, token, { element: node.id, timer: node.timer });
      arm(run, token, [...boundaries, own]);
      return undefined;
    }
    case "script": {
      const value = await valueFrom(run, node.expression, lookupFrom(run, token));
      takeResult(run, token, { [node.result]: value });
      return "complete";
    }
    case "end": {
      if (node.end.as !== "error") return "complete";
      const lookup = lookupFrom(run, token);
      const code = await demand(run, { kind: "string", of: node.end.code, lookup });
      throwError(run, token, { code, message: "" });
      return undefined;
    }
    case "start":
    case "exclusive":
    case "parallel":
    case "pass":
    case "boundary":
      return "complete";
  }
}
