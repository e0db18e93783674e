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
import { type Committed, commit } from "../step/commit.ts";
import type { Plan } from "../step/plan.ts";
import type { World } from "../world.ts";

/** How far a call has come: once it may happen though it is refused, its answer must say so. */
export type Progress = { mayHappen: boolean };

type Around = Readonly<{
  /** Queues the copy; absent: the step owes nothing that must be sent. */
  copy: (() => Promise<void>) | undefined;
  /** What is done at once, for the caller's sake. */
  show: () => Promise<unknown>;
  /** Of the call that commits; absent: a queue brings this step again. */
  progress?: Progress | undefined;
}>;

export async function commitCall(
  world: World,
  plan: Plan,
  { copy, show, progress }: Around,
): Promise<Committed> {
  const { queuesSurvive } = world.settings.host;
  if (copy && queuesSurvive) {
    if (progress) progress.mayHappen = true;
    await copy();
  }
  const outcome = await commit(world, plan, null);
  if (outcome.kind !== "committed") return outcome;
  if (!queuesSurvive) await copy?.();
  try {
    await show();
  } catch (error) {
    world.onTrouble?.(`what follows a step of instance ${plan.image.instance.id}`, error);
  }
  return outcome;
}

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
    happened: `The request was not finished (${why}), and may be carried out all the same`,
    where,
    fix: "Repeat it with the same Idempotency-Key or id: it is carried out at most once, and the answer to the repeat says what became of it.",
    retryable: true,
    cause,
  });
}
