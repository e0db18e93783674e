/** A change of an instance that no fact decides: a lease, a claim, records that have left. */
import { MAX_TRIES_OF_PARKED } from "../../definition/limits.ts";
import type { Instance } from "../../kernel/instance.ts";
import { Again, again, tryRepeatedly } from "../storage/retrying.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { commit } from "./commit.ts";
import { type Plan, planWrite } from "./plan.ts";

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
