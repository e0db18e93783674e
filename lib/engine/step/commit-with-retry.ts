/** Takes wants into their instance: decide, commit, and again from the image that won. */
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
  /** There is nothing to consume any more; `image` is the instance without it. */
  | { kind: "gone"; image?: Image }
  /** Others keep winning, or the store is busy: park it. */
  | { kind: "contended" }
  /** Another invocation took over what this one drives: leave everything to that one. */
  | { kind: "overtaken" }
>;

export type Step = Besides &
  Readonly<{
    want: Want | ((instance: Instance) => readonly Want[]);
    owner: Owner;
    /** Says of each image that won whether this invocation may go on. */
    mine?: (current: Image) => boolean;
    tries?: number;
  }>;

export async function commitWithRetry(
  world: World,
  found: Image,
  { want, owner, mine = () => true, tries = MAX_TRIES_BEFORE_PARKING, ...besides }: Step,
): Promise<CommitResult> {
  let image = found;
  const writer = owner.owner ?? found.instance.id;
  const result = await tryRepeatedly(world, { tries, writer }, async () => {
    const wants = typeof want === "function" ? want(image.instance) : [want];
    const planned = await plan(world, image, { wants, owner, ...besides });
    if (planned === undefined) {
      const newer = await newerThan(world, image, wants);
      if (newer === undefined) return { kind: "gone", image } as const;
      image = newer;
      return again();
    }
    const outcome = await commit(world, planned, owner.owner);
    if (outcome.kind === "committed") {
      return { kind: "settled", plan: planned, image: outcome.image } as const;
    }
    if (outcome.kind === "busy") return { kind: "contended" } as const;
    if (outcome.kind === "moved") return again();
    if (outcome.current === undefined) return { kind: "gone" } as const;
    if (!mine(outcome.current)) return { kind: "overtaken" } as const;
    image = outcome.current;
    return again();
  });
  return result instanceof Again ? { kind: "contended" } : result;
}

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

// A change of an instance that no fact decides: a lease, a claim, records that have left.

export type Rewritten = Readonly<
  | { kind: "written"; image: Image; plan: Plan }
  /** There is nothing to change. */
  | { kind: "same"; image: Image }
  | { kind: "gone" }
  /** Others keep winning, or the store is busy. */
  | { kind: "busy"; retryAfterMs: number }
>;

/** Commits what `change` makes of the instance, and again of each image that won against it. */
export async function rewrite(
  world: World,
  found: Image,
  own: string | null,
  change: (instance: Instance) => Instance,
): Promise<Rewritten> {
  let image = found;
  const tries = { tries: MAX_TRIES_OF_PARKED, writer: own ?? found.instance.id };
  const rewritten = await tryRepeatedly(world, tries, async (): Promise<Rewritten | Again> => {
    const { instance, program } = image;
    const changed = change(instance);
    if (changed === instance) return { kind: "same", image };
    const plan = planWrite(world, program, instance, changed);
    const outcome = await commit(world, plan, own);
    if (outcome.kind === "committed") return { kind: "written", image: outcome.image, plan };
    if (outcome.kind !== "conflict") return again(outcome);
    if (outcome.current === undefined) return { kind: "gone" };
    image = outcome.current;
    return again();
  });
  if (!(rewritten instanceof Again)) return rewritten;
  return { kind: "busy", retryAfterMs: rewritten.afterMs ?? CONTENDED_MS };
}

/** After that those who keep winning may be done. */
export const CONTENDED_MS = 100;
