import type { EndKind } from "../../definition/graph.ts";
import { callOf, openCall } from "./call.ts";
import { throwError } from "./error.ts";
import { demand, valueFrom } from "./evaluate.ts";
import { enterBody } from "./loop.ts";
import { mapInputs } from "./mapping.ts";
import { type Spot, spotOf } from "./plan.ts";
import { arrive, type Run } from "./run.ts";
import { type Phase, type Token, tokenAt } from "./state.ts";
import { offer, orderOf, takeResult } from "./task.ts";
import { throwSignal } from "./throw.ts";
import { lookupFrom } from "./variables.ts";
import { nameFrom, openWaits, waitsOf } from "./wait.ts";

/**
 * The first phase of a token: input mappings, then the behaviour of the element. Everything is
 * computed before anything is opened, so that a refusal leaves nothing behind and entering can be
 * retried from the start. Returns the next phase, or nothing while the element waits.
 */
export async function enter(run: Run, arrived: Token): Promise<Phase | undefined> {
  const spot = spotOf(run.plan, arrived.node);
  if (spot.node.loop && arrived.member === undefined) {
    return enterBody(run, arrived, spot, spot.node.loop);
  }
  await mapInputs(run, arrived, spot.inputs);
  return behave(run, tokenAt(run, arrived.id), spot);
}

async function behave(run: Run, token: Token, { node, starts }: Spot): Promise<Phase | undefined> {
  switch (node.kind) {
    case "process":
    case "scope": {
      if (openWaits(run, token, await waitsOf(run, token))) begin(run, token, starts);
      return undefined;
    }
    case "task": {
      const waits = await waitsOf(run, token);
      const order = await orderOf(run, token);
      if (openWaits(run, token, waits)) offer(run, token, order);
      return undefined;
    }
    case "call": {
      const waits = await waitsOf(run, token);
      const call = await callOf(run, token);
      if (openWaits(run, token, waits)) openCall(run, token, call);
      return undefined;
    }
    case "catch":
    case "event-gateway": {
      openWaits(run, token, await waitsOf(run, token));
      return undefined;
    }
    case "throw": {
      throwSignal(run, token, await nameFrom(run, token, node.signal));
      return "complete";
    }
    case "script": {
      const value = await valueFrom(run, node.expression, lookupFrom(run, token));
      takeResult(run, token, { [node.result]: value });
      return "complete";
    }
    case "end":
      return arriveAtEnd(run, token, node.end);
    case "start":
    case "exclusive":
    case "parallel":
    case "pass":
    case "boundary":
      return "complete";
  }
}

/** A triggered process starts at that event alone, which takes the payload like a result. */
function begin(run: Run, scope: Token, starts: readonly string[]): void {
  const { trigger, ...entered } = scope;
  const { thrown } = scope;
  if (trigger === undefined) {
    for (const start of starts) arrive(run, scope.id, start, { thrown });
    return;
  }
  run.tokens.set(scope.id, entered);
  const start = arrive(run, scope.id, trigger.element, { thrown });
  takeResult(run, tokenAt(run, start), trigger.payload);
}

async function arriveAtEnd(run: Run, token: Token, end: EndKind): Promise<Phase | undefined> {
  switch (end.as) {
    case "plain":
    case "terminate":
      return "complete";
    case "signal":
      throwSignal(run, token, await nameFrom(run, token, end.signal));
      return "complete";
    case "error": {
      const lookup = lookupFrom(run, token);
      const code = await demand(run, { kind: "string", of: end.code, lookup });
      throwError(run, token, { code, message: "" });
      return undefined;
    }
  }
}
