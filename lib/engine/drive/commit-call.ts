/**
 * The commit of a step that no queue repeats: a copy of what the step owes is queued besides.
 *
 * 1. Where queues last, the copy leaves before the commit: it takes the step if its sender dies. No
 *    queue gives it back, so from then on no refusal is certain, and the answer says so.
 * 2. Queues in memory die with the process, and then the store tells what is owed: the copy leaves
 *    after the commit. What is refused never happens, and of those who race only the winner sends.
 * 3. After the commit the answer is yes: what fails then is left to the copy, or to the store's index.
 */
import { EngineError } from "../../ports/engine-error.ts";
import type { LockedRow } from "../rows/closed.ts";
import { type Committed, commit } from "../step/commit.ts";
import { afterCommit, showCaller } from "../step/dispatch.ts";
import { mustBeSent } from "../step/owed.ts";
import type { Plan } from "../step/plan.ts";
import type { World } from "../world.ts";

/** How far a call has come: once it may happen though it is refused, its answer must say so. */
export type Progress = { mayHappen: boolean };

type Around = Readonly<{
  /** Queues the copy, where the step owes more than timers; absent: one is queued already. */
  copy: (() => Promise<void>) | undefined;
  /** Of the call that commits; absent: a queue brings this step again. */
  progress?: Progress | undefined;
  held?: LockedRow | undefined;
}>;

export async function commitCall(
  world: World,
  plan: Plan,
  { copy: queueCopy, progress, held }: Around,
): Promise<Committed> {
  const { queuesSurvive } = world.settings.host;
  const owes = owesMoreThanTimers(world, plan);
  const copy = owes ? queueCopy : undefined;
  if (copy && queuesSurvive) {
    if (progress) progress.mayHappen = true;
    await copy();
  }
  const outcome = await commit(world, plan, null);
  if (outcome.kind !== "committed") return outcome;
  if (!queuesSurvive) await copy?.();
  try {
    // The caller expects to find at once what the copy will send. A step without one ends here.
    if (owes) await showCaller(world, plan, held);
    else await afterCommit(world, plan, { held });
  } catch (error) {
    world.onTrouble?.(`what follows a step of instance ${plan.image.instance.id}`, error);
  }
  return outcome;
}

/** Timers are found by the store's index; everything else must be sent. */
const owesMoreThanTimers = (world: World, { fresh }: Plan): boolean =>
  fresh.outbox.length > 0 || fresh.tickets.some((ticket) => mustBeSent(world, ticket));

/** Answers a call: with what it gives, with its refusal, or that its outcome is unknown. */
export async function answerCall<T>(
  where: string,
  call: (progress: Progress) => Promise<T>,
): Promise<T> {
  const progress = { mayHappen: false };
  try {
    return await call(progress);
  } catch (cause) {
    throw progress.mayHappen || isDoubtful(cause) ? outcomeUnknown(where, cause) : cause;
  }
}

/** A flush that failed may have reached the disk all the same: the next opening will tell. */
const isDoubtful = (cause: unknown): boolean =>
  cause instanceof EngineError && cause.code === "store/commit-failed";

function outcomeUnknown(where: string, cause: unknown): EngineError {
  const why = cause instanceof EngineError ? cause.code : "an unexpected error";
  return new EngineError("engine/outcome-unknown", {
    // Callers see this sentence, and need the id: to look at it, or to send the same request again.
    happened: `The request for ${where} was not finished (${why}), and may be carried out all the same`,
    where,
    fix: "Repeat it with the same Idempotency-Key or id: it is carried out at most once, and the answer to the repeat says what became of it.",
    cause,
  });
}
