import type { Computed } from "../../definition/expression.ts";
import type { BoundaryTrigger, Node } from "../../definition/graph.ts";
import { MAX_WAITS_PER_STEP } from "../../definition/limits.ts";
import { quoted } from "../../definition/parsed.ts";
import type { Context } from "./context.ts";
import type { Place } from "./outline.ts";
import { called } from "./source.ts";

/**
 * An activity needs a unique handler for each event: an error, a signal or a message is caught by a
 * single boundary event on it, and by the task itself only if by none of them.
 */
export function checkCatchers(
  nodes: readonly Node[],
  byId: ReadonlyMap<string, Place>,
  context: Context,
): void {
  const activities = new Map(nodes.map((node) => [node.id, node]));
  const boundaries = Map.groupBy(nodes.filter(isBoundary), ({ on }) => on);
  for (const [on, attached] of boundaries) {
    const host = activities.get(on);
    const own = host?.kind === "catch" ? keyOf(host.awaits) : undefined;
    checkSet({ own, attached }, byId, context);
    const place = byId.get(on);
    const named = attached.filter(({ trigger }) => isNamed(trigger)).length;
    const waits = named + (host?.kind === "catch" && isNamed(host.awaits) ? 1 : 0);
    if (place !== undefined) checkWaits(place, waits, context);
  }
}

/** Refuses an element with more waits than one step can open. */
export function checkWaits({ element }: Place, waits: number, { report }: Context): void {
  if (waits <= MAX_WAITS_PER_STEP) return;
  report.refuse({
    code: "bpmn/too-many-waits",
    at: element,
    message: `${called(element)} waits for ${waits} signals and messages at once; the limit is ${MAX_WAITS_PER_STEP}.`,
    hint: "Let one signal or message tell by its payload what has happened.",
  });
}

/** Whether this is a wait for a signal or a message, which is subscribed by name. */
export function isNamed({ on }: BoundaryTrigger): boolean {
  return on === "signal" || on === "message";
}

type Boundary = Extract<Node, { kind: "boundary" }>;

function isBoundary(node: Node): node is Boundary {
  return node.kind === "boundary";
}

function checkSet(
  { own, attached }: Readonly<{ own: string | undefined; attached: readonly Boundary[] }>,
  byId: ReadonlyMap<string, Place>,
  { report }: Context,
): void {
  const taken = new Set<string>();
  for (const { id, on, trigger } of attached) {
    const key = keyOf(trigger);
    const at = byId.get(id)?.element;
    if (key === undefined || at === undefined) continue;
    if (taken.has(key)) {
      report.refuse({
        code:
          trigger.on === "error" ? "bpmn/duplicate-error-catcher" : "bpmn/duplicate-boundary-name",
        at,
        message: `${called(at)} catches ${spoken(trigger)} on ${quoted(on)}, and so does another boundary event.`,
        hint: "Remove one of the two, or let it catch something else.",
      });
    }
    if (key === own) {
      report.refuse({
        code: "bpmn/boundary-like-its-task",
        at,
        message: `${called(at)} waits for ${spoken(trigger)}, and so does ${quoted(on)} itself.`,
        hint: "Remove the boundary event, or let it wait for another message.",
      });
    }
    taken.add(key);
  }
}

/** What two boundary events may not share; timers never conflict. */
function keyOf(trigger: BoundaryTrigger): string | undefined {
  switch (trigger.on) {
    case "timer":
      return undefined;
    case "error":
      return JSON.stringify([trigger.on, trigger.code ?? null]);
    case "signal":
      return JSON.stringify([trigger.on, trigger.signal]);
    case "message":
      return JSON.stringify([trigger.on, trigger.message]);
  }
}

/** A trigger as a diagnostic names it. */
export function spoken(trigger: BoundaryTrigger): string {
  switch (trigger.on) {
    case "timer":
      return "a timer";
    case "error":
      return trigger.code === undefined ? "every error" : `the code ${quoted(trigger.code)}`;
    case "signal":
      return `signal ${written(trigger.signal)}`;
    case "message":
      return `message ${written(trigger.message)}`;
  }
}

function written(name: Computed): string {
  return quoted(name.kind === "feel" ? `=${name.text}` : String(name.value));
}
