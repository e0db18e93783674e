/** Plans a change of an instance and commits it, and again from each image that won against it. */
import { MAX_TRIES_BEFORE_PARKING, MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import type { Instance } from "../../kernel/instance.ts";
import { Again, again, tryRepeatedly } from "../storage/retrying.ts";
import { type Image, loadInstance } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { commit } from "./commit.ts";
import { type Besides, type Plan, plan, planWrite } from "./plan.ts";
import type { Owner, Want } from "./take.ts";

export type CommitResult = Readonly<
  | { kind: "settled"; plan: Plan; image: Image }
  /** There is nothing to change any more; `image` is the instance without it. */
  | { kind: "gone"; image?: Image }
  /** Others keep winning, or the store is busy. */
  | { kind: "contended"; retryAfterMs: number }
  /** Another invocation took over what this one drives: leave everything to that one. */
  | { kind: "overtaken"; image?: undefined }
>;

export type Step = Besides &
  Readonly<{
    want: Want | ((instance: Instance) => readonly Want[]);
    owner: Owner;
    /** Says of each image that won whether this invocation may go on. */
    mine?: (current: Image) => boolean;
    tries?: number;
  }>;

/** Takes wants into their instance. A busy store is not asked again: what is contended is parked. */
export const commitWithRetry = (
  world: World,
  found: Image,
  { want, owner, mine, tries = MAX_TRIES_BEFORE_PARKING, ...besides }: Step,
): Promise<CommitResult> =>
  commitPlans(world, found, { own: owner.owner, mine, tries }, async (image) => {
    const wants = typeof want === "function" ? want(image.instance) : [want];
    const planned = await plan(world, image, { wants, owner, ...besides });
    return planned ?? newerThan(world, image, wants);
  });

/** Commits a change that no fact decides: a lease, a claim, records that have left. */
export const rewrite = (
  world: World,
  found: Image,
  own: string | null,
  change: (instance: Instance) => Instance,
): Promise<CommitResult> =>
  commitPlans(world, found, { own, tries: MAX_TRIES_OF_PARKED, isPatient: true }, async (image) => {
    const changed = change(image.instance);
    if (changed === image.instance) return undefined;
    return planWrite(world, image.program, image.instance, changed);
  });

type How = Readonly<{
  own: string | null;
  tries: number;
  mine?: Step["mine"] | undefined;
  /** A store that is busy is asked again. */
  isPatient?: boolean;
}>;

/** `planFor` gives the plan, or a newer image to plan on, or undefined: there is nothing to change. */
async function commitPlans(
  world: World,
  found: Image,
  { own, tries, mine = () => true, isPatient = false }: How,
  planFor: (image: Image) => Promise<Plan | Image | undefined>,
): Promise<CommitResult> {
  let image = found;
  const writer = own ?? found.instance.id;
  const result = await tryRepeatedly<CommitResult>(world, { tries, writer }, async () => {
    const planned = await planFor(image);
    if (planned === undefined) return { kind: "gone", image };
    if ("instance" in planned) {
      image = planned;
      return again();
    }
    const outcome = await commit(world, planned, own);
    if (outcome.kind === "committed") return { ...outcome, kind: "settled", plan: planned };
    if (outcome.kind === "busy")
      return isPatient ? again(outcome) : { ...outcome, kind: "contended" };
    if (outcome.kind === "moved") return again();
    if (outcome.current === undefined) return { kind: "gone" };
    if (!mine(outcome.current)) return { kind: "overtaken" };
    image = outcome.current;
    return again();
  });
  if (!(result instanceof Again)) return result;
  return { kind: "contended", retryAfterMs: result.afterMs ?? CONTENDED_MS };
}

/** After that those who keep winning may be done. */
export const CONTENDED_MS = 100;

/**
 * A re-check that finds nothing may have come between: the instance was read before another step,
 * the wait's source after it. Only an instance that is read later says what that step owes.
 */
async function newerThan(
  world: World,
  { instance: { id, version } }: Image,
  wants: readonly Want[],
): Promise<Image | undefined> {
  if (!wants.some((want) => "look" in want)) return undefined;
  const current = await loadInstance(world, id);
  return current && current.instance.version > version ? current : undefined;
}
