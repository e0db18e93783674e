/** Takes one outcome into its instance: decide, commit, and again from the image that won. */
import { MAX_TRIES_BEFORE_PARKING } from "../../definition/limits.ts";
import type { Image } from "../storage/stored-instance.ts";
import type { World } from "../world.ts";
import { commit } from "./commit.ts";
import { type Besides, type Plan, plan } from "./plan.ts";
import type { Owner, Want } from "./take.ts";

export type CommitResult = Readonly<
  | { kind: "settled"; plan: Plan; image: Image }
  /** Nothing to consume any more; `image` says what is. */
  | { kind: "gone"; image?: Image }
  /** Others keep winning, or the store is busy: park it. */
  | { kind: "contended" }
  /** Somebody else took over what we were driving: leave everything to them. */
  | { kind: "overtaken" }
>;

/** `mine` looks at each image that won against us, and says whether we may go on. */
export async function commitWithRetry(
  world: World,
  found: Image,
  want: Want,
  owner: Owner,
  {
    mine = () => true,
    ...besides
  }: Besides & Readonly<{ mine?: (current: Image) => boolean }> = {},
): Promise<CommitResult> {
  let image = found;
  for (let tries = 1; ; tries++) {
    const planned = await plan(world, image, [want], owner, besides);
    if (planned === undefined) return { kind: "gone", image };
    const outcome = await commit(world, planned, owner.own);
    if (outcome.kind === "committed") {
      return { kind: "settled", plan: planned, image: outcome.image };
    }
    if (outcome.kind === "busy") return { kind: "contended" };
    if (outcome.kind === "conflict") {
      if (outcome.current === undefined) return { kind: "gone" };
      if (!mine(outcome.current)) return { kind: "overtaken" };
      image = outcome.current;
    }
    if (tries >= MAX_TRIES_BEFORE_PARKING) return { kind: "contended" };
    await world.clock.pause(pauseMs(owner.own ?? want.name, tries));
  }
}

/** Between 5 and 25 ms: those who lost to the same commit must not all come back at once. */
export function pauseMs(own: string, tries: number): number {
  let mixed = tries;
  for (const character of own) mixed = (mixed * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return 5 + (mixed % 21);
}
