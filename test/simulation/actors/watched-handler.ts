// User code under observation: it runs only for what was committed, and its outcome is recorded.
import type { Variables } from "../../../lib/definition/json.ts";
import type { Fact } from "../../../lib/kernel/fact.ts";
import type { TaskAttempt, TaskHandler, TaskOutcome } from "../../../lib/ports/tasks.ts";
import type { Handler } from "../scenarios/scenario.ts";
import type { Stage } from "../world/stage.ts";

/** A handler of a scenario, as the engine runs it. */
export function watchedHandler(
  stage: Stage,
  { takesMs = 0, isolate, exclusive, ...user }: Handler,
): TaskHandler {
  return {
    timeoutMs: 1_000,
    isolate: isolate === true,
    exclusive: exclusive === true,
    run: async (input: Variables, about: TaskAttempt): Promise<TaskOutcome> => {
      checkMayRun(stage, about);
      if (exclusive) checkRunsOnce(stage, about);
      if (stage.scenario.runsOnceInLife && stage.mode === "memory") checkOnceInLife(stage, about);
      await stage.actors.stop("handler", "before");
      stage.ledger.push(about.idempotencyKey);
      const outcome = await user.outcome(about, input, stage.desk);
      if (outcome.kind !== "not-run") stage.brings(about.instanceId, factOf(about, outcome));
      await stage.actors.stop("handler", "after", stage.now + takesMs);
      return outcome;
    },
  };
}

/** User code runs only for what was committed, and never for a start that lost. */
function checkMayRun(stage: Stage, { instanceId, ticket }: TaskAttempt): void {
  const life = stage.invariants.lives.get(instanceId);
  // An item of a batch is committed with the batch.
  const [committed = ticket] = ticket.split("#");
  stage.demand(life?.ids.has(committed) === true, `${ticket} of ${instanceId} ran uncommitted`);
  const carried = stage.actors.current?.carried;
  if (carried === undefined || life === undefined) return;
  const { startedAt, startHash } = life.instance;
  const isOwn = startedAt === carried.now && startHash === carried.request;
  stage.demand(isOwn, `a start that lost ran ${ticket} on ${instanceId}`);
}

/** Exclusive tasks are claimed first: no attempt of them starts a second time. */
function checkRunsOnce(stage: Stage, { idempotencyKey, attempt }: TaskAttempt): void {
  const run = `${idempotencyKey}/${attempt}`;
  stage.demand(!stage.exclusiveRuns.has(run), `${run} is exclusive, and ran a second time`);
  stage.exclusiveRuns.add(run);
}

/** Nothing has crashed since: the run of an attempt knows its outcome. */
function checkOnceInLife(stage: Stage, { idempotencyKey, attempt }: TaskAttempt): void {
  const run = `${idempotencyKey}/${attempt}`;
  stage.demand(!stage.runsInLife.has(run), `${run} ran twice in one life`);
  stage.runsInLife.add(run);
}

function factOf(
  { ticket, attempt }: TaskAttempt,
  outcome: Exclude<TaskOutcome, { kind: "not-run" }>,
): Fact {
  if (outcome.kind === "completed") {
    const { variables, result } = outcome;
    return { kind: "task-completed", ticket, variables, ...(result !== undefined && { result }) };
  }
  const { kind: _, ...failure } = outcome;
  // For an item, only the final failure is recorded.
  const isLast = ticket.includes("#") && { retries: 0 };
  return { kind: "task-failed", ticket, attempt, ...failure, ...isLast };
}
