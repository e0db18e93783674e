/**
 * Poison protection: whatever brings a fact, the step that it makes is taken a bounded number of
 * times. A step that throws is an incident at once, by the kernel. One that never ends, or that takes
 * its process with it, is counted by its host: by the process itself (`World.watch`), or by the queue
 * that brings its message again (`World.aside`). Then the fact is kept by an incident, undecided.
 *
 * What runs no code of the user is never refused: an instance that is set aside can be cancelled.
 */
import { findTicket } from "../../kernel/batch.ts";
import { type Decision, decide, decideIncident } from "../../kernel/decide.ts";
import type { Given } from "../../kernel/draft.ts";
import type { Fact } from "../../kernel/fact.ts";
import type { Instance, TaskTicket } from "../../kernel/instance.ts";
import type { Program } from "../../kernel/runner.ts";
import { EngineError } from "../../ports/engine-error.ts";
import type { Invocation } from "../../ports/message.ts";
import { attemptName } from "../storage/names.ts";
import type { World } from "../world.ts";

/** The world as a delivery sees it: of one that came too often nothing is decided. */
export const asideOf = (world: World, { aside }: Invocation): World =>
  aside === undefined ? world : { ...world, aside };

/** Decides a fact, or keeps it in an incident where deciding it has ended badly too often. */
export async function decideGuarded(
  { world, program, given }: Readonly<{ world: World; program: Program; given: Given }>,
  instance: Instance,
  fact: Fact,
): Promise<Decision> {
  const setAside = (why: string) =>
    decideIncident(program, instance, { fact, why: poisoned(fact, why) }, given);
  if (isHarmless(instance, fact)) return decide(program, instance, fact, given);
  if (world.aside !== undefined) return setAside(world.aside);
  const watched = world.watch?.begin({ instanceId: instance.id, name: stepName(instance, fact) });
  if (watched?.kind === "later") throw notYet(instance, watched.forMs);
  if (watched?.kind === "poisoned") return setAside(diedWith(watched.deaths));
  try {
    return await decide(program, instance, fact, given);
  } finally {
    watched?.end();
  }
}

/** Says that the process died each time. */
export const diedWith = (deaths: number): string =>
  `the engine was killed or crashed ${deaths} times in a row while it was under way`;

/** Neither an expression nor a handler runs for it. */
function isHarmless({ tickets }: Instance, fact: Fact): boolean {
  if (fact.kind === "timer-due") {
    const timer = findTicket(tickets, fact.ticket);
    return timer?.on === "timer" && timer.deadline === true;
  }
  return HARMLESS.has(fact.kind);
}

const HARMLESS: ReadonlySet<Fact["kind"]> = new Set([
  "cancel-requested",
  "task-claimed",
  "task-assigned",
]);

/** The same after a restart, which brings the fact again; of a task also that of its run. */
function stepName({ tickets }: Instance, fact: Fact): string {
  const ticket = "ticket" in fact ? findTicket(tickets, fact.ticket) : undefined;
  return ticket?.on === "task" ? taskStepName(ticket) : nameOf(fact);
}

/** One that was set aside and resolved is another attempt. Those of a batch item are not in the instance. */
export const taskStepName = ({ id, attempt, member }: TaskTicket): string =>
  member === undefined ? attemptName(id, attempt) : id;

function nameOf(fact: Fact): string {
  if ("ticket" in fact) return fact.ticket;
  return fact.kind === "event-sent" ? `event ${fact.event.id}` : fact.kind;
}

const titleOf = (fact: Fact): string =>
  fact.kind === "task-failed"
    ? `The task ${fact.ticket}`
    : `The step of ${fact.kind} ${nameOf(fact)}`;

const poisoned = (fact: Fact, why: string) =>
  ({
    type: "STEP_POISONED",
    message: `${titleOf(fact)} was not taken: ${why}. Look for an expression or a task that never ends, or that needs more memory than there is; then resolve this incident to try it again, or cancel the instance.`,
  }) as const;

const notYet = (instance: Instance, forMs: number): EngineError =>
  new EngineError("engine/busy", {
    happened: "The engine died while this step was under way: it is tried again later, alone",
    where: `instance ${instance.id}`,
    fix: `Wait for ${Math.ceil(forMs / 1_000)} s, or cancel the instance.`,
  });
